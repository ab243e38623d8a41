-- One conversation per item, for many users at once. A batch's own row is the lock of its slots: whoever gives one out
-- holds it, after the conversation where there is one.
CREATE TABLE batches (
  org_id text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  id text NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'cancelled', 'completed')),
  deployment_id text REFERENCES deployments ON DELETE SET NULL,
  concurrency integer NOT NULL CHECK (concurrency BETWEEN 1 AND 100),
  item_count integer NOT NULL CHECK (item_count BETWEEN 1 AND 5000),
  metadata json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When its items were last looked through for some to start.
  advanced_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  -- From its end on, when nothing moves any more: a list of batches then reads no items.
  final_counts json,
  final_micros bigint,
  PRIMARY KEY (org_id, mode, id),
  CHECK (status <> 'completed' OR completed_at IS NOT NULL),
  CHECK ((completed_at IS NULL) = (final_counts IS NULL) AND (completed_at IS NULL) = (final_micros IS NULL))
);
CREATE INDEX batches_unfinished ON batches (advanced_at) WHERE completed_at IS NULL;

CREATE TABLE batch_items (
  batch_id text NOT NULL,
  item_index integer NOT NULL,
  org_id text NOT NULL,
  mode text NOT NULL,
  -- Null for the org's own agent, and for somebody who was erased.
  user_id text,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  -- A running item that waits for a person gives its slot up, and wants one when it has its answer.
  slot text CHECK (slot IN ('held', 'given_up', 'wanted')),
  -- What is said, until it is said: then it stands in the conversation and not here.
  message text,
  context json,
  metadata json NOT NULL,
  conversation_id text,
  turn_id text,
  task_id text,
  -- Of an item that never became a turn; otherwise the turn has it.
  error_code text,
  error_message text,
  -- From its end on.
  cost_micros bigint,
  finished_at timestamptz,
  PRIMARY KEY (batch_id, item_index),
  CHECK ((status = 'running') = (slot IS NOT NULL)),
  CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
);
CREATE UNIQUE INDEX batch_items_by_turn ON batch_items (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX batch_items_by_user ON batch_items (org_id, mode, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX batch_items_queued ON batch_items (batch_id, item_index) WHERE status = 'queued' AND user_id IS NOT NULL;
CREATE INDEX batch_items_queued_of_org ON batch_items (batch_id, item_index) WHERE status = 'queued' AND user_id IS NULL;
CREATE INDEX batch_items_running ON batch_items (batch_id, slot) WHERE status = 'running';
-- The org's own agent works on few items at a time, whatever batches they are of.
CREATE INDEX batch_items_of_own_agent ON batch_items (org_id, mode) WHERE slot = 'held' AND user_id IS NULL;
