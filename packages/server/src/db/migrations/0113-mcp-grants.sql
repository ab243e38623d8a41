-- MCP clients that members have let in by OAuth. Of codes and tokens only hashes are kept. A grant goes with its member.
CREATE TABLE registered_mcp_clients (
  id text PRIMARY KEY,
  name text NOT NULL,
  redirect_uris text[] NOT NULL,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX registered_mcp_clients_by_use ON registered_mcp_clients (last_used_at);

CREATE TABLE mcp_grants (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  member_id text NOT NULL REFERENCES members ON DELETE CASCADE,
  client_id text NOT NULL,
  client_name text NOT NULL,
  client_address text NOT NULL,
  is_verified boolean NOT NULL,
  scopes text[] NOT NULL,
  -- How often its refresh token was exchanged: 0 until the client has fetched its first tokens.
  generation integer NOT NULL DEFAULT 0 CHECK (generation >= 0),
  renewed_at timestamptz,
  last_used_at timestamptz,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mcp_grants_by_org ON mcp_grants (org_id, mode, id DESC);
CREATE INDEX mcp_grants_by_member ON mcp_grants (member_id, id DESC);
CREATE INDEX mcp_grants_by_client ON mcp_grants (client_id);
CREATE INDEX mcp_grants_by_expiry ON mcp_grants (expires_at);

CREATE TABLE mcp_authorization_codes (
  code_hash bytea PRIMARY KEY,
  grant_id text NOT NULL REFERENCES mcp_grants ON DELETE CASCADE,
  redirect_uri text NOT NULL,
  code_challenge text NOT NULL,
  used_at timestamptz,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mcp_authorization_codes_by_grant ON mcp_authorization_codes (grant_id);
CREATE INDEX mcp_authorization_codes_by_expiry ON mcp_authorization_codes (expires_at);

CREATE TABLE mcp_tokens (
  token_hash bytea PRIMARY KEY,
  grant_id text NOT NULL REFERENCES mcp_grants ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
  generation integer NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mcp_tokens_by_grant ON mcp_tokens (grant_id);
CREATE INDEX mcp_tokens_by_expiry ON mcp_tokens (expires_at);
