-- Set while a request names the insight, so that a second request at once does not pay for the same name. An empty name
-- with an expired time is none: its process died.
ALTER TABLE insight_names ADD COLUMN IF NOT EXISTS naming_until timestamptz;
