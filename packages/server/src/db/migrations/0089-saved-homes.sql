-- Counts who has held a computer, so that what a process still saves that lost it is refused.
ALTER TABLE computers ADD COLUMN IF NOT EXISTS epoch bigint NOT NULL DEFAULT 0;

-- The home of the computer as it was last saved to the file store: its name there, the hash of its bytes, and when the
-- saving began. What was prepared on the computer after that is not in it.
ALTER TABLE computers
  ADD COLUMN saved_name text,
  ADD COLUMN saved_sha256 text,
  ADD COLUMN saved_bytes bigint,
  ADD COLUMN saved_at timestamptz;

-- Homes lie in the file store under names that are no hashes.
ALTER TABLE unused_contents RENAME COLUMN sha256 TO name;
