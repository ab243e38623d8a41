-- MCP servers are shared by both modes of an org.
CREATE TABLE mcp_servers (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  slug text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  -- SHA-256 of the URL in its one canonical spelling: a URL itself may be longer than an index takes. Two servers may
  -- share an address; a deployment file means the older one.
  address_sha256 text NOT NULL,
  -- Credentials stand in it as ${secret:NAME} and ${user_secret:NAME}, never by value. `json` and not `jsonb`: headers
  -- show in the order in which they were sent.
  headers json NOT NULL,
  -- The floor under every deployment that uses the server.
  deny text[] NOT NULL DEFAULT '{}',
  require_approval text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, slug)
);
CREATE INDEX mcp_servers_by_org ON mcp_servers (org_id, id DESC);
CREATE INDEX mcp_servers_by_address ON mcp_servers (org_id, address_sha256, id);
