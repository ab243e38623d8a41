-- Orgs that leave this installation or have come to it. Nothing of an org runs here while it has a row with another state
-- than 'arrived'. The table is almost always empty, so background work can ask it with each look.
CREATE TABLE IF NOT EXISTS org_moves (
  org_id text PRIMARY KEY,
  -- One export. An archive of another one cannot be activated.
  move_id text NOT NULL,
  state text NOT NULL CHECK (state IN ('leaving', 'left', 'arriving', 'arrived')),
  -- Where the org leaves: the key that signs the receipt of one other installation, sealed under the org's data key.
  sealed_signing_key bytea,
  -- Where the org leaves: the snapshot that was exported. Rows that are newer are not in the archive.
  snapshot text,
  -- Where the org arrives: the key that the hand-over is signed with.
  verify_key bytea,
  -- Where it arrives the number of this import; where it left the import that it was handed to.
  receipt text,
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- Signing secrets of the memory endpoint that another installation derived, by number, sealed under the org's data key.
SET lock_timeout = '2s';
ALTER TABLE org_settings ADD COLUMN IF NOT EXISTS sealed_memory_secrets bytea;
RESET lock_timeout;
