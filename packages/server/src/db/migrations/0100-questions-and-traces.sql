-- A tool of a server may ask the person something before it goes on. `kept` is what the call goes on with once there is an
-- answer; it is shown to nobody.
ALTER TABLE interactions
  ADD COLUMN kept json,
  DROP CONSTRAINT interactions_purpose_check,
  ADD CONSTRAINT interactions_purpose_check CHECK (purpose IN ('permission', 'connection', 'input', 'answer'));

-- Whether the org's traces hold what was said, per mode like where they go.
ALTER TABLE org_settings ADD COLUMN otlp_content boolean NOT NULL DEFAULT false;
