-- The passages that a tool call showed, with the marks by which a reply may cite them. Null: it showed none.
SET lock_timeout = '2s';
ALTER TABLE run_calls ADD COLUMN IF NOT EXISTS passages jsonb;
-- The passages that a message cites. They are places in documents, without any text of them. Null: it cites none.
ALTER TABLE messages ADD COLUMN IF NOT EXISTS sources jsonb;
RESET lock_timeout;
