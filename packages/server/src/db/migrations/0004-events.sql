-- What webhooks tell and GET /v1/events lists.
CREATE TABLE events (
  id text NOT NULL,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  type text NOT NULL,
  deployment_id text,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- As on audit entries, a page is found within its org alone.
  PRIMARY KEY (org_id, mode, id)
);
CREATE INDEX events_by_type ON events (org_id, mode, type, id DESC);

CREATE TABLE conversations (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  deployment_id text,
  deployment_version integer,
  status text NOT NULL DEFAULT 'idle',
  metadata jsonb NOT NULL DEFAULT '{}',
  last_event_seq bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_active_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX conversations_by_org ON conversations (org_id, mode, id DESC);
CREATE INDEX conversations_by_user ON conversations (org_id, mode, user_id, id DESC);

-- The log of a conversation: the only stream. `seq` has no gaps and is never used twice.
CREATE TABLE conversation_events (
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  seq bigint NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  task_id text,
  turn_id text,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (conversation_id, seq)
);
CREATE INDEX conversation_events_by_task ON conversation_events (conversation_id, task_id, seq) WHERE task_id IS NOT NULL;
