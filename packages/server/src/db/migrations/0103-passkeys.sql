-- Keys that stand beside a login's password and open what it opens. `counter` is what the device last counted, where it counts.
CREATE TABLE passkeys (
  id text PRIMARY KEY,
  email text NOT NULL REFERENCES logins ON DELETE CASCADE,
  name text NOT NULL,
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_by_email ON passkeys (email, id DESC);
