-- Orgs, who may call, and the bookkeeping of the request path.

CREATE TABLE orgs (
  id text PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active',
  allowed_return_urls text[] NOT NULL DEFAULT '{}',
  allowed_embed_origins text[] NOT NULL DEFAULT '{}',
  default_deployment text,
  require_user boolean NOT NULL DEFAULT false,
  memory_panel boolean NOT NULL DEFAULT false,
  memory_mode text NOT NULL DEFAULT 'vestra',
  memory_endpoint text,
  otlp_endpoint text,
  otlp_headers_secret text,
  max_org_daily_micros bigint NOT NULL DEFAULT 1000000000,
  org_daily_micros bigint DEFAULT 100000000,
  user_daily_micros bigint DEFAULT 10000000,
  org_monthly_micros bigint,
  user_monthly_micros bigint,
  alert_thresholds integer[] NOT NULL DEFAULT '{50,80,95}',
  -- The org's data key, wrapped by the server's master key.
  wrapped_data_key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  secret_hash bytea NOT NULL UNIQUE,
  last4 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_by_org ON api_keys (org_id, mode, id DESC);

-- Secrets that a roll replaced. They stay after their grace so that a late caller reads
-- key_expired rather than key_invalid.
CREATE TABLE rolled_key_secrets (
  secret_hash bytea PRIMARY KEY,
  key_id text NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);

-- A person logs in once, whatever number of orgs they belong to.
CREATE TABLE logins (
  email text PRIMARY KEY,
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  email text NOT NULL,
  name text,
  role text NOT NULL,
  status text NOT NULL,
  invite_hash bytea UNIQUE,
  invite_expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, email)
);
CREATE INDEX members_by_email ON members (email);
CREATE INDEX members_by_org ON members (org_id, id DESC);

CREATE TABLE console_sessions (
  token_hash bytea PRIMARY KEY,
  email text NOT NULL REFERENCES logins ON DELETE CASCADE,
  csrf_token text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX console_sessions_by_email ON console_sessions (email);

CREATE TABLE sessions (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  conversation_id text,
  token_hash bytea NOT NULL UNIQUE,
  chat boolean NOT NULL,
  screen text NOT NULL,
  voice text,
  memory boolean NOT NULL,
  driver text NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_by_user ON sessions (org_id, mode, user_id);

-- Claimed in the transaction of the create it guards: a second call with the same key waits on
-- this row and then finds the first one's answer.
CREATE TABLE idempotency_keys (
  org_id text NOT NULL,
  mode text NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status integer,
  answer bytea,
  encrypted boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE rate_windows (
  bucket text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  used integer NOT NULL
);

-- The key begins with the org: by an index on the id alone the planner would walk through the newer rows of every other
-- org to find the page of a large one.
CREATE TABLE audit_entries (
  id text NOT NULL,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  action text NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  actor_name text NOT NULL,
  target_type text,
  target_id text,
  ip text,
  request_id text,
  details jsonb NOT NULL DEFAULT '{}',
  -- Set on key use alone: one row per key and minute.
  used_minute timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, id),
  UNIQUE (actor_id, used_minute)
);
CREATE INDEX audit_entries_by_action ON audit_entries (org_id, mode, action, id DESC);
CREATE INDEX audit_entries_by_actor ON audit_entries (org_id, mode, actor_id, id DESC);

-- user_id is empty for a secret of the company's own.
CREATE TABLE secrets (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text NOT NULL DEFAULT '',
  name text NOT NULL,
  sealed_value bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, user_id, name)
);
