-- Real talks that a version answers again. A replay belongs to the mode of its talks: what live users said is not shown in
-- test mode. No foreign key to the deployment: who erases a user finds the copy of their words also after it was deleted.
CREATE TABLE replays (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  deployment_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'error', 'cancelled')),
  resumes integer NOT NULL DEFAULT 0 CHECK (resumes >= 0),
  error_code text,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
);
CREATE INDEX replays_by_deployment ON replays (deployment_id, mode, id DESC);
CREATE INDEX replays_open ON replays (created_at) WHERE status IN ('queued', 'running');

CREATE TABLE replay_talks (
  replay_id text NOT NULL REFERENCES replays ON DELETE CASCADE,
  position integer NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  source_id text NOT NULL,
  user_id text,
  status text NOT NULL DEFAULT 'queued'
    CHECK (status IN ('queued', 'running', 'same', 'different', 'failed', 'cancelled')),
  conversation_id text,
  exchanges json NOT NULL DEFAULT '[]',
  judged_by text,
  duration_ms integer NOT NULL DEFAULT 0 CHECK (duration_ms >= 0),
  cost_micros bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  error_code text,
  error_message text,
  started_at timestamptz,
  PRIMARY KEY (replay_id, position)
);
CREATE INDEX replay_talks_by_user ON replay_talks (org_id, mode, user_id) WHERE user_id IS NOT NULL;
