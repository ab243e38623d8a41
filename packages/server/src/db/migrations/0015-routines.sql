-- Messages that are sent on a schedule or on a call, kept apart per mode.
CREATE TABLE routines (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- Null for the org's own agent.
  user_id text,
  -- Null until a run makes one.
  conversation_id text REFERENCES conversations ON DELETE SET NULL,
  -- Null for the default of the user, then of the org, at the time of a run. A routine goes with the deployment that it
  -- names: under another one it would be answered by an agent that nobody chose for it.
  deployment_id text REFERENCES deployments ON DELETE CASCADE,
  deployment_version integer CHECK (deployment_version >= 1),
  managed_by text CHECK (managed_by = 'file'),
  name text NOT NULL,
  ask text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('schedule', 'trigger', 'app_event')),
  -- The plain words that the cron form was read from.
  every text,
  cron text,
  timezone text,
  -- Whether the routine names its time zone itself; otherwise it has its user's.
  own_timezone boolean NOT NULL DEFAULT false,
  -- `json` and not `jsonb`: shown as it was written.
  filters json,
  enabled boolean NOT NULL DEFAULT true,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed', 'failed')),
  last_run_at timestamptz,
  next_run_at timestamptz,
  run_count integer NOT NULL DEFAULT 0 CHECK (run_count >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (deployment_version IS NULL OR deployment_id IS NOT NULL),
  CHECK (managed_by IS NULL OR deployment_id IS NOT NULL),
  CHECK ((kind = 'schedule') = (cron IS NOT NULL) AND (cron IS NULL) = (timezone IS NULL)),
  CHECK (kind = 'schedule' OR every IS NULL),
  CHECK (kind <> 'schedule' OR filters IS NULL),
  CHECK (next_run_at IS NULL OR (kind = 'schedule' AND enabled AND status = 'active'))
);
CREATE INDEX routines_by_user ON routines (org_id, mode, user_id, id DESC);
CREATE INDEX routines_due ON routines (next_run_at) WHERE enabled AND status = 'active' AND next_run_at IS NOT NULL;
CREATE INDEX routines_by_deployment ON routines (deployment_id) WHERE deployment_id IS NOT NULL;
CREATE INDEX routines_by_conversation ON routines (conversation_id) WHERE conversation_id IS NOT NULL;
-- The next file finds a routine again by its name and user. Routines that came over the API may share both.
CREATE UNIQUE INDEX routines_of_file ON routines (deployment_id, mode, name, COALESCE(user_id, ''))
  WHERE managed_by = 'file';
