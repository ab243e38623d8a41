-- A call of a company's own function waits as an interaction. Whoever answers the functions of a deployment finds it by
-- that, takes it under a claim that nobody else has until its time is over, and says how far it is.
ALTER TABLE interactions
  ADD COLUMN deployment_id text,
  ADD COLUMN taken_by text,
  ADD COLUMN taken_until timestamptz,
  -- How often it was taken.
  ADD COLUMN attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN progress text;

UPDATE interactions SET deployment_id = turns.deployment_id FROM turns
  WHERE turns.id = interactions.turn_id AND interactions.status = 'pending' AND interactions.type = 'tool_call';

CREATE INDEX interactions_to_take ON interactions (org_id, mode, deployment_id, id)
  WHERE status = 'pending' AND type = 'tool_call' AND NOT is_hidden;

-- The address of the company's own that answers the functions of a deployment, per mode.
CREATE TABLE function_endpoints (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  deployment_id text NOT NULL REFERENCES deployments ON DELETE CASCADE,
  url text NOT NULL,
  -- Why it was last called for nothing, and when.
  last_failure text,
  last_failed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, deployment_id)
);

-- As of webhooks: a roll gives the secret in use an end and adds another, and calls are signed with each that is valid.
CREATE TABLE function_endpoint_secrets (
  org_id text NOT NULL,
  mode text NOT NULL,
  deployment_id text NOT NULL,
  sealed_secret bytea NOT NULL,
  -- Null for the one that the last roll gave.
  valid_until timestamptz,
  PRIMARY KEY (org_id, mode, deployment_id, sealed_secret),
  FOREIGN KEY (org_id, mode, deployment_id) REFERENCES function_endpoints ON DELETE CASCADE
);
CREATE UNIQUE INDEX function_endpoint_secrets_in_use ON function_endpoint_secrets (org_id, mode, deployment_id)
  WHERE valid_until IS NULL;
