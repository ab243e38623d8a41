-- Scenarios and the runs that play them. All of it is shared by both modes of an org; a run carries the mode it is
-- played and charged in.

CREATE TABLE scenarios (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  name text NOT NULL,
  persona text NOT NULL,
  goal text NOT NULL,
  success_criteria text[] NOT NULL,
  must_never text[] NOT NULL,
  -- `json` and not `jsonb`: a tool answers its keys in the order in which they were written down.
  tool_results json,
  approves boolean,
  managed_by text CHECK (managed_by = 'file'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX scenarios_by_deployment ON scenarios (deployment_id, id DESC);
-- The next file finds a test again by its name. Scenarios that came over the API may share one.
CREATE UNIQUE INDEX scenarios_of_file ON scenarios (deployment_id, name) WHERE managed_by = 'file';

CREATE TABLE test_runs (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  version integer NOT NULL CHECK (version >= 1),
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  status text NOT NULL DEFAULT 'queued'
    CHECK (status IN ('queued', 'running', 'passed', 'failed', 'error', 'cancelled')),
  promote_on_pass boolean NOT NULL,
  resumes integer NOT NULL DEFAULT 0 CHECK (resumes >= 0),
  error_code text,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
);
CREATE INDEX test_runs_by_deployment ON test_runs (deployment_id, id DESC);
CREATE INDEX test_runs_by_version ON test_runs (deployment_id, version, id DESC);

-- One row for each scenario of a run. Each keeps the scenario as it was when the run was made: a verdict stays
-- readable, and a run goes on, after the scenario was changed or deleted. Hence no foreign key to it.
CREATE TABLE test_run_results (
  run_id text NOT NULL REFERENCES test_runs ON DELETE CASCADE,
  scenario_id text NOT NULL,
  org_id text NOT NULL,
  scenario json NOT NULL,
  status text NOT NULL DEFAULT 'queued'
    CHECK (status IN ('queued', 'running', 'passed', 'failed', 'error', 'cancelled')),
  -- What the judge said of each line; empty until it has spoken.
  criteria json NOT NULL DEFAULT '[]',
  must_never json NOT NULL DEFAULT '[]',
  conversation_id text,
  transcript json NOT NULL DEFAULT '[]',
  duration_ms integer NOT NULL DEFAULT 0 CHECK (duration_ms >= 0),
  cost_micros bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  error_code text,
  PRIMARY KEY (run_id, scenario_id)
);
