-- Tool servers and apps that are away, so that each outage is told of once.
CREATE TABLE tool_outages (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The id of a server, or of an app.
  server_id text NOT NULL,
  -- A secret or a sign-in of one user is what is missing; otherwise it is away for everybody.
  is_personal boolean NOT NULL,
  -- Empty: everybody, or the org's own agent.
  user_key text NOT NULL,
  reason text NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, server_id, is_personal, user_key)
);

-- Which tools a run did without, and why; null: none.
ALTER TABLE turns ADD COLUMN missing_tools json;
ALTER TABLE tasks ADD COLUMN missing_tools json;

-- The model's answer ran into its limit of length, and what was kept of it ends there.
ALTER TABLE run_steps ADD COLUMN is_cut boolean NOT NULL DEFAULT false;
ALTER TABLE messages ADD COLUMN is_cut boolean NOT NULL DEFAULT false;
ALTER TABLE turns ADD COLUMN reply_is_cut boolean NOT NULL DEFAULT false;
ALTER TABLE tasks ADD COLUMN result_is_cut boolean NOT NULL DEFAULT false;

-- Why the last run that was due did not happen; null once one has.
ALTER TABLE routines ADD COLUMN last_error json;

-- What an error code cannot say alone, such as which server was away.
ALTER TABLE test_run_results ADD COLUMN error_message text;
