ALTER TABLE routines
  -- Whether the conversation was named for the routine. One that a run has made is left for another where the routine's
  -- deployment is another by then.
  ADD COLUMN own_conversation boolean NOT NULL DEFAULT false,
  -- Made by the agent when its user asked for it, and not through the API.
  ADD COLUMN made_by_agent boolean NOT NULL DEFAULT false;
UPDATE routines SET own_conversation = true WHERE conversation_id IS NOT NULL;

-- What the agent believes to have made in a test: nothing of it ever runs.
CREATE TABLE pretended_routines (
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  id text NOT NULL,
  name text NOT NULL,
  ask text NOT NULL,
  every text,
  cron text NOT NULL,
  timezone text NOT NULL,
  PRIMARY KEY (conversation_id, id)
);
