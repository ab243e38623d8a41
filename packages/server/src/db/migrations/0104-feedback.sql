-- What people say of an answer. One for each who rates it: the last counts. It goes with its conversation.
CREATE TABLE message_feedback (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  message_id text NOT NULL,
  deployment_id text NOT NULL,
  deployment_version integer NOT NULL,
  rater_type text NOT NULL CHECK (rater_type IN ('user', 'member', 'key')),
  -- Of a user who has no name, as of the org's own agent: empty.
  rater_id text NOT NULL,
  rating text NOT NULL CHECK (rating IN ('good', 'bad')),
  comment text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (conversation_id, message_id, rater_type, rater_id)
);
CREATE INDEX message_feedback_by_deployment ON message_feedback (org_id, mode, deployment_id, id DESC);
