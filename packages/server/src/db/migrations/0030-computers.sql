-- The computer of each user and of each org's own agent. Its folder lies in the data folder, under its number.
CREATE SEQUENCE computer_numbers;

CREATE TABLE computers (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- Empty: the org's own agent.
  user_key text NOT NULL,
  number bigint NOT NULL UNIQUE DEFAULT nextval('computer_numbers'),
  -- The process on which it is awake, for as long as it says so in time.
  held_by text,
  held_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, user_key)
);
