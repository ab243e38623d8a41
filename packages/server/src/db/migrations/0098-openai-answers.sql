-- What the routes for clients of OpenAI's API know of an answer beside its turn. A client that sends the whole talk with
-- each message is found its conversation by the digest of that talk.
CREATE TABLE openai_answers (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL,
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  turn_id text NOT NULL,
  after_seq bigint NOT NULL,
  model text NOT NULL,
  tool_names jsonb NOT NULL,
  is_structured boolean NOT NULL,
  is_kept boolean NOT NULL,
  request_digest text NOT NULL,
  talk_digest text,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX openai_answers_by_talk ON openai_answers (org_id, mode, talk_digest) WHERE talk_digest IS NOT NULL;
CREATE INDEX openai_answers_by_request ON openai_answers (org_id, mode, request_digest);
CREATE INDEX openai_answers_by_conversation ON openai_answers (conversation_id);
