-- When something that the agent had read in a conversation was last deleted. Summaries and memories that were being written
-- from it at that moment are discarded.
ALTER TABLE conversations ADD COLUMN IF NOT EXISTS redacted_at timestamptz;

-- The file behind a copy on a computer, and the conversation that it was placed for. Null: placed before this column.
-- `is_deleted`: the file or the conversation was deleted, and the copy must go before anything runs on the computer.
ALTER TABLE computer_preparations
  ADD COLUMN IF NOT EXISTS file_id text,
  ADD COLUMN IF NOT EXISTS conversation_id text,
  ADD COLUMN IF NOT EXISTS is_deleted boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT IF EXISTS computer_preparations_kind_check,
  ADD CONSTRAINT computer_preparations_kind_check
    CHECK (kind IN ('file', 'repo', 'setup', 'skill', 'upload', 'output'));
