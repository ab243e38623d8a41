-- What the routes for clients of other APIs know of an answer beside its turn. A client that sends the whole talk with each
-- message, or a name of its own for it, is found its conversation by the digest of that.
CREATE TABLE client_answers (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL,
  conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,
  turn_id text NOT NULL,
  after_seq bigint NOT NULL,
  model text NOT NULL,
  tool_names json NOT NULL,
  is_structured boolean NOT NULL,
  is_kept boolean NOT NULL,
  request_digest text NOT NULL,
  talk_digest text,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX client_answers_by_talk ON client_answers (org_id, mode, talk_digest) WHERE talk_digest IS NOT NULL;
CREATE INDEX client_answers_by_request ON client_answers (org_id, mode, request_digest);
CREATE INDEX client_answers_by_conversation ON client_answers (conversation_id);
