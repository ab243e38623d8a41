-- How often looking through what was said since `remembered_until` has failed in a row.
ALTER TABLE conversations ADD COLUMN memory_tries integer NOT NULL DEFAULT 0;

-- The secret that calls to the memory endpoint are signed with is made from its number; the one before is still used for a day.
ALTER TABLE org_settings
  ADD COLUMN memory_secret_number integer NOT NULL DEFAULT 0,
  ADD COLUMN memory_secret_rolled_at timestamptz;
