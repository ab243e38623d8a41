-- `keep_until`: it stays awake at least until then. `waking_since`: it is being woken before anybody needs it.
ALTER TABLE computers ADD COLUMN keep_until timestamptz, ADD COLUMN waking_since timestamptz;

CREATE INDEX computers_waking ON computers (org_id) WHERE waking_since IS NOT NULL;

-- What was put on a computer and is not put there again. A row comes after the deed: what a crash has cut is done anew.
CREATE TABLE computer_preparations (
  org_id text NOT NULL,
  mode text NOT NULL,
  user_key text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('file', 'repo', 'setup', 'upload')),
  -- The path; of a setup the hash of the script; of an upload the message and the path.
  key text NOT NULL,
  -- Of what lies there.
  fingerprint text NOT NULL,
  prepared_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, user_key, kind, key),
  FOREIGN KEY (org_id, mode, user_key) REFERENCES computers ON DELETE CASCADE
);
