-- The company's own sign-in. It belongs to the org and not to a mode, as its members do.
CREATE TABLE identity_providers (
  org_id text PRIMARY KEY REFERENCES orgs ON DELETE CASCADE,
  issuer text NOT NULL,
  client_id text NOT NULL,
  sealed_client_secret bytea,
  allowed_domains text[] NOT NULL,
  default_role text,
  role_claim text,
  roles_by_claim jsonb NOT NULL,
  password_sign_in boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- What opens a membership. One that a provider has made is opened by no password: whoever has a login with the same email,
-- by the invitation of another org, is somebody else until the provider says otherwise.
ALTER TABLE members
  ADD COLUMN opened_by text NOT NULL DEFAULT 'password' CHECK (opened_by IN ('password', 'identity', 'both'));

CREATE TABLE member_identities (
  member_id text PRIMARY KEY REFERENCES members ON DELETE CASCADE,
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  issuer text NOT NULL,
  subject text NOT NULL,
  email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, issuer, subject)
);

-- A session leads to every org that a login opens, or, where a provider has opened it, to the one member it vouched for.
ALTER TABLE console_sessions
  ALTER COLUMN email DROP NOT NULL,
  ADD COLUMN member_id text REFERENCES members ON DELETE CASCADE,
  ADD CHECK ((email IS NULL) <> (member_id IS NULL));
CREATE INDEX console_sessions_by_member ON console_sessions (member_id) WHERE member_id IS NOT NULL;

-- Sign-ins that have begun in a browser and not come back. The browser holds the secret, from which state, nonce and the
-- rest are derived; a row is what lets it be used once.
CREATE TABLE sign_in_attempts (
  token_hash bytea PRIMARY KEY,
  kind text NOT NULL,
  org_id text REFERENCES orgs ON DELETE CASCADE,
  member_id text REFERENCES members ON DELETE CASCADE,
  email text REFERENCES logins ON DELETE CASCADE,
  return_to text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempts_by_expiry ON sign_in_attempts (expires_at);
