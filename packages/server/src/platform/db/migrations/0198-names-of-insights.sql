-- Names that a model gave to insights. A name is valid while `digest`, of the quoted texts, stays the same. It may repeat
-- words of `conversation_ids`, and is deleted with them.
CREATE TABLE IF NOT EXISTS insight_names (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  insight_id text NOT NULL,
  digest text NOT NULL,
  name text NOT NULL,
  conversation_ids text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, deployment_id, insight_id)
);
