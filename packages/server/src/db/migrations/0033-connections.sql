-- Apps that users signed in to. All but the newest sign-in of a user to an app are pending or have failed.
CREATE TABLE connections (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  id text NOT NULL,
  -- Empty: the org's own agent.
  user_key text NOT NULL,
  app text NOT NULL,
  -- Where the app's server was at the sign-in: its tokens go nowhere else.
  server_url text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'connected', 'failed')),
  account text,
  return_url text,
  -- SHA-256 of the state; null once it has come back.
  state_hash bytea UNIQUE,
  authorization_server json NOT NULL,
  -- While pending what the sign-in goes on with, then the tokens; null once it has failed.
  sealed bytea,
  -- Rises with every new token.
  token_epoch integer NOT NULL DEFAULT 0,
  token_expires_at timestamptz,
  -- A process asks for a new token, and nobody else does until then.
  renewing_until timestamptz,
  -- Of a pending one.
  expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, id)
);
CREATE UNIQUE INDEX connections_in_use ON connections (org_id, mode, user_key, app) WHERE status = 'connected';
CREATE INDEX connections_by_user ON connections (org_id, mode, user_key, id DESC);
CREATE INDEX connections_by_age ON connections (updated_at) WHERE status <> 'connected';

-- What the authorization servers of apps know this server as, for each org.
CREATE TABLE app_clients (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  app text NOT NULL,
  server_url text NOT NULL,
  issuer text NOT NULL,
  redirect_uri text NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, app, server_url, issuer, redirect_uri)
);
