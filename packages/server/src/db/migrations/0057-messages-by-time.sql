-- Messages are listed by when they appeared. A cursor tells moments apart by the millisecond, and so do the rows: a finer
-- time would sort a message between two pages and show it on neither.
ALTER TABLE messages ALTER COLUMN created_at TYPE timestamptz(3);
CREATE INDEX messages_by_time ON messages (conversation_id, created_at, id);
