-- Attempts to fix real failures of a deployment. `cost_micros` is the cost of calls outside conversations; the ledger has
-- the cost of `conversation_ids`. `attempts` has every proposal with its results.
CREATE TABLE IF NOT EXISTS improvements (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  base_version integer NOT NULL CHECK (base_version >= 1),
  source json NOT NULL,
  -- Who started it, and therefore saves its versions.
  author json NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'error', 'cancelled')),
  phase text NOT NULL DEFAULT 'reproducing' CHECK (phase IN ('reproducing', 'proposing', 'proving', 'ended')),
  outcome text,
  budget_micros bigint NOT NULL CHECK (budget_micros > 0),
  cost_micros bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  conversation_ids text[] NOT NULL DEFAULT '{}',
  rounds integer NOT NULL CHECK (rounds BETWEEN 1 AND 5),
  reproduction_run_id text,
  baseline_run_id text,
  attempts json NOT NULL DEFAULT '[]',
  flags json NOT NULL DEFAULT '[]',
  resumes integer NOT NULL DEFAULT 0 CHECK (resumes >= 0),
  error_code text,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
);
CREATE INDEX IF NOT EXISTS improvements_by_deployment ON improvements (deployment_id, mode, id DESC);
CREATE INDEX IF NOT EXISTS improvements_open ON improvements (created_at) WHERE status IN ('queued', 'running');

-- One row per conversation, deleted with it. `scenario` has replaced values only.
CREATE TABLE IF NOT EXISTS improvement_scenarios (
  improvement_id text NOT NULL REFERENCES improvements ON DELETE CASCADE,
  position integer NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  source_id text NOT NULL,
  user_id text,
  scenario_id text NOT NULL,
  scenario json,
  is_left_out boolean NOT NULL DEFAULT false,
  PRIMARY KEY (improvement_id, position)
);
CREATE INDEX IF NOT EXISTS improvement_scenarios_by_source ON improvement_scenarios (source_id);
CREATE INDEX IF NOT EXISTS improvement_scenarios_by_user ON improvement_scenarios (org_id, mode, user_id) WHERE user_id IS NOT NULL;

-- The improvement that plays the run and reports its end. Lists and sweeps leave such runs out.
SET lock_timeout = '2s';
ALTER TABLE test_runs ADD COLUMN IF NOT EXISTS improvement_id text;
ALTER TABLE replays ADD COLUMN IF NOT EXISTS improvement_id text;
RESET lock_timeout;
