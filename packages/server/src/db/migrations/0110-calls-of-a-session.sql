-- How many voice calls a session has begun: the last of them is the one that goes on, in whichever process.
ALTER TABLE sessions ADD COLUMN voice_calls integer NOT NULL DEFAULT 0;
