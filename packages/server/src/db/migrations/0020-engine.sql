-- Kept as written: an event is shown with its keys in the order in which its resource has them.
ALTER TABLE conversation_events ALTER COLUMN data TYPE json;

-- What a conversation is at: every change to it, its turns, its tasks or its interactions holds this row first.
ALTER TABLE conversations
  -- The version that was named with `@`; null where the mode's own is meant.
  ADD COLUMN pinned_version integer,
  ADD COLUMN turn_count integer NOT NULL DEFAULT 0,
  -- What is open in it, counted under the row's lock: its status and its next reply are read off these.
  ADD COLUMN queued_turns integer NOT NULL DEFAULT 0,
  ADD COLUMN open_tasks integer NOT NULL DEFAULT 0,
  ADD COLUMN open_interactions integer NOT NULL DEFAULT 0,
  -- The one turn whose reply is being made; the others wait behind it.
  ADD COLUMN replying_turn_id text,
  -- Of a test run: no list shows it and no webhook tells of it.
  ADD COLUMN is_hidden boolean NOT NULL DEFAULT false,
  -- Stands for all messages up to this one, where the conversation grew too long for its model.
  ADD COLUMN summary text,
  ADD COLUMN summary_until text,
  -- From when on what was said since `remembered_until` may be looked through for things to remember.
  ADD COLUMN memory_due_at timestamptz,
  ADD COLUMN remembered_until text;
CREATE INDEX conversations_to_remember ON conversations (memory_due_at) WHERE memory_due_at IS NOT NULL;

-- No foreign keys from here on: each would lock and look up the conversation once more per row, and whoever erases a
-- conversation erases its rows by name.
CREATE TABLE messages (
  conversation_id text NOT NULL,
  id text NOT NULL,
  turn_id text NOT NULL,
  turn_ordinal integer NOT NULL,
  task_id text,
  role text NOT NULL CHECK (role IN ('user', 'agent', 'work')),
  text text NOT NULL,
  -- Kept as written: the order of keys is the model's or the caller's own.
  data json,
  context json,
  attachments jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (conversation_id, id)
);

CREATE TABLE turns (
  conversation_id text NOT NULL,
  ordinal integer NOT NULL,
  id text NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  user_id text,
  deployment_id text NOT NULL,
  deployment_version integer NOT NULL,
  -- `queued` is shown as `replying`: the reply has not begun, or goes on after an answer.
  state text NOT NULL CHECK (state IN ('queued', 'replying', 'waiting', 'working', 'settled', 'failed', 'stopped')),
  -- What the message asks for beyond its text.
  request json NOT NULL,
  -- Who said it: a person, or the service for them.
  origin text NOT NULL,
  message_id text NOT NULL,
  reply_message_id text NOT NULL,
  -- What came before, fixed when the reply is begun, so that whoever goes on with it reads the same.
  history_until text,
  base_summary text,
  base_from text,
  fence text NOT NULL,
  active_ms bigint NOT NULL DEFAULT 0,
  reply_text text,
  reply_data json,
  acknowledgement text,
  task_id text,
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  PRIMARY KEY (conversation_id, ordinal)
);
CREATE UNIQUE INDEX turns_by_id ON turns (id);
CREATE INDEX turns_replying ON turns (created_at) WHERE state = 'replying';

CREATE TABLE tasks (
  org_id text NOT NULL,
  mode text NOT NULL,
  id text NOT NULL,
  conversation_id text NOT NULL,
  turn_id text NOT NULL,
  user_id text,
  deployment_id text NOT NULL,
  deployment_version integer NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'working', 'waiting', 'done', 'failed')),
  title text,
  -- What the orchestrator asks of the work; null where the message itself says it.
  brief text,
  progress json NOT NULL DEFAULT '[]',
  result_text text,
  result_data json,
  outcome_met boolean,
  outcome_reason text,
  error_code text,
  error_message text,
  is_hidden boolean NOT NULL DEFAULT false,
  fence text NOT NULL,
  active_ms bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX tasks_by_user ON tasks (org_id, mode, user_id, id DESC);
CREATE INDEX tasks_by_status ON tasks (org_id, mode, status, id DESC);
CREATE INDEX tasks_by_conversation ON tasks (conversation_id, id);
CREATE INDEX tasks_running ON tasks (updated_at) WHERE status IN ('queued', 'working');

-- The trace that people read and the point from which a successor goes on. A run is a turn's reply or a task.
CREATE TABLE run_steps (
  run_id text NOT NULL,
  step_index integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('model', 'summary')),
  text text NOT NULL,
  notice text,
  covers integer,
  model text NOT NULL,
  input_tokens integer NOT NULL,
  output_tokens integer NOT NULL,
  cache_read_tokens integer NOT NULL,
  cost_micros bigint NOT NULL,
  started_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, step_index)
);

CREATE TABLE run_calls (
  run_id text NOT NULL,
  step_index integer NOT NULL,
  position integer NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  arguments json NOT NULL,
  started_at timestamptz,
  output text,
  is_error boolean,
  result_from text,
  finished_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, step_index, position)
);
CREATE UNIQUE INDEX run_calls_by_id ON run_calls (id);

CREATE TABLE interactions (
  org_id text NOT NULL,
  mode text NOT NULL,
  id text NOT NULL,
  user_id text,
  conversation_id text NOT NULL,
  turn_id text NOT NULL,
  task_id text,
  run_id text NOT NULL,
  call_id text,
  purpose text CHECK (purpose IN ('permission', 'connection', 'answer')),
  kind text NOT NULL,
  type text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'resolved', 'cancelled', 'expired')),
  summary text NOT NULL,
  moves_money boolean,
  requires_present_user boolean NOT NULL,
  nonce text,
  questions json,
  details json NOT NULL,
  decision text,
  answers json,
  reason text,
  message text,
  -- What the agent reads of the answer.
  output text,
  is_error boolean,
  is_hidden boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  resolved_at timestamptz,
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX interactions_of_run ON interactions (run_id);
CREATE INDEX interactions_by_status ON interactions (org_id, mode, status, id DESC);
CREATE INDEX interactions_by_user ON interactions (org_id, mode, user_id, id DESC);
CREATE INDEX interactions_by_conversation ON interactions (conversation_id, id DESC);
CREATE INDEX interactions_pending ON interactions (conversation_id) WHERE status = 'pending';
CREATE INDEX interactions_due ON interactions (expires_at) WHERE status = 'pending';

-- Text of a reply as it is written, from whoever owns the run. The conversation's row is taken first, as everywhere, and
-- only then is the owner looked at: whoever stops or takes over a run holds that row, so nothing is written behind them.
CREATE FUNCTION append_delta(conversation text, run text, owner_epoch bigint, event_id text, turn text, delta json)
RETURNS TABLE (seq bigint, created_at timestamptz) LANGUAGE plpgsql AS $$
DECLARE
  next_seq bigint;
BEGIN
  SELECT last_event_seq + 1 INTO next_seq FROM conversations WHERE id = conversation FOR NO KEY UPDATE;
  PERFORM FROM runs WHERE id = run AND epoch = owner_epoch;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE conversations SET last_event_seq = next_seq WHERE id = conversation;
  RETURN QUERY INSERT INTO conversation_events AS e (conversation_id, seq, id, type, turn_id, data)
    VALUES (conversation, next_seq, event_id, 'reply.delta', turn, delta) RETURNING e.seq, e.created_at;
END $$;
