-- The test run that a deployment waits for in a mode: when it passes, its version becomes the one that mode runs. A
-- later apply, promotion or rollback in that mode takes the row away or puts its own run in its place, so a run that was
-- overtaken promotes nothing when it passes.
CREATE TABLE pending_promotions (
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  org_id text NOT NULL,
  run_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (deployment_id, mode)
);
