-- `held_at`: where other processes reach the one on which the computer is awake. `epoch`: counts who has held it, so that
-- what a process still writes that lost it is refused.
ALTER TABLE computers ADD COLUMN held_at text, ADD COLUMN epoch bigint NOT NULL DEFAULT 0;

-- The processes on which computers can be awake, for as long as each says so in time.
CREATE TABLE computer_hosts (
  id text PRIMARY KEY,
  address text NOT NULL,
  has_browser boolean NOT NULL,
  seen_until timestamptz NOT NULL
);
