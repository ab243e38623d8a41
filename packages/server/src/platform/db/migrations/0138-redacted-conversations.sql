-- When something that the agent had read in a conversation was last deleted. Summaries and memories that were being written
-- from it at that moment are discarded.
ALTER TABLE conversations ADD COLUMN IF NOT EXISTS redacted_at timestamptz;
