-- What a person is shown of the browsers they are signed in with, and by what they end one. The default is for a process of
-- the version before, which may still be running.
ALTER TABLE console_sessions
  ADD COLUMN id text NOT NULL DEFAULT 'cses_' || left(replace(gen_random_uuid()::text, '-', ''), 24),
  ADD COLUMN user_agent text,
  ADD COLUMN ip text,
  ADD COLUMN last_seen_at timestamptz NOT NULL DEFAULT now();
CREATE UNIQUE INDEX console_sessions_by_id ON console_sessions (id);

-- Links to choose a new password. One that an org made is good only while the login leads to that org alone; the operator's
-- has no org.
CREATE TABLE password_resets (
  token_hash bytea PRIMARY KEY,
  email text NOT NULL REFERENCES logins ON DELETE CASCADE,
  org_id text REFERENCES orgs ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX password_resets_by_email ON password_resets (email);
