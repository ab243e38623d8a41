-- A user is named by the org's own id, in each mode apart.
CREATE TABLE users (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  id text NOT NULL,
  name text,
  email text,
  locale text,
  timezone text,
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active',
  daily_cap_micros bigint,
  monthly_cap_micros bigint,
  default_deployment text REFERENCES deployments ON DELETE SET NULL,
  is_service_user boolean NOT NULL DEFAULT false,
  -- Set while the erasure runs: from then on nobody acts for this user.
  erasing_since timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX users_by_time ON users (org_id, mode, created_at DESC, id DESC);
CREATE INDEX users_by_email ON users (org_id, mode, email, created_at DESC, id DESC) WHERE email IS NOT NULL;
CREATE INDEX users_being_erased ON users (erasing_since) WHERE erasing_since IS NOT NULL;
