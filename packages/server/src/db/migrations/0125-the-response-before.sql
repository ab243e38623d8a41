-- The answer that a client went on from, as OpenAI's API shows it again.
ALTER TABLE client_answers ADD COLUMN previous_id text;
