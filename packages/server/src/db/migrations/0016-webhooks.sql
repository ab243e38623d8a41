-- Webhook endpoints are kept apart per mode.
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The deployment whose file declares it; null for one that came over the API.
  deployment_id text REFERENCES deployments ON DELETE CASCADE,
  managed_by text CHECK (managed_by = 'file'),
  url text NOT NULL,
  -- The types it asked for, or '*' alone.
  events text[] NOT NULL CHECK (cardinality(events) >= 1),
  description text,
  active boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((managed_by IS NULL) = (deployment_id IS NULL))
);
CREATE INDEX webhook_endpoints_by_org ON webhook_endpoints (org_id, mode, id DESC);
CREATE INDEX webhook_endpoints_of_file ON webhook_endpoints (deployment_id, mode) WHERE deployment_id IS NOT NULL;

-- Signing secrets, sealed under the org's data key and bound to their endpoint. A roll gives the one in use an end and
-- adds another, so several may be valid at once: deliveries are signed with each of them.
CREATE TABLE webhook_secrets (
  endpoint_id text NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
  sealed_secret bytea NOT NULL,
  -- Null for the one that the last roll gave.
  valid_until timestamptz,
  PRIMARY KEY (endpoint_id, sealed_secret)
);
CREATE UNIQUE INDEX webhook_secrets_in_use ON webhook_secrets (endpoint_id) WHERE valid_until IS NULL;
