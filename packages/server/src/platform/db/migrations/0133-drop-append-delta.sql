-- Version 0.2.0 and later use append_reply_delta.
DROP FUNCTION IF EXISTS append_delta(text, text, bigint, text, text, json);
DROP FUNCTION IF EXISTS append_delta(text, text, bigint, text, text, json, uuid, json);
