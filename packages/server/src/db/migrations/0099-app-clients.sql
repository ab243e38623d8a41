-- OAuth clients that an org registered with an app itself. Each belongs to one authorization server: its secret is sent
-- to no other, whatever the app's server says later of where people sign in.
CREATE TABLE own_app_clients (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  app text NOT NULL,
  server_url text NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  auth_method text CHECK (auth_method IN ('client_secret_basic', 'client_secret_post', 'none')),
  -- The secret; null for a client that has none.
  sealed bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, app)
);

-- A connection by a key of the user's has no authorization server. `problem` is what went wrong last, in plain words.
ALTER TABLE connections
  ADD COLUMN auth text NOT NULL DEFAULT 'oauth' CHECK (auth IN ('oauth', 'api_key')),
  ADD COLUMN renews boolean NOT NULL DEFAULT false,
  ADD COLUMN problem text,
  ALTER COLUMN authorization_server DROP NOT NULL,
  ADD CONSTRAINT connections_sign_in CHECK ((auth = 'api_key') = (authorization_server IS NULL));
-- Of those from before it is not written down; one whose token ends was mostly given something to renew it with.
UPDATE connections SET renews = true WHERE status = 'connected' AND token_expires_at IS NOT NULL;
