-- The bytes lie in the file store under their hash; the row says whose they are.
CREATE TABLE files (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  filename text,
  mime_type text,
  size_bytes bigint,
  sha256 text NOT NULL,
  source text NOT NULL,
  task_id text,
  conversation_id text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX files_by_org ON files (org_id, mode, source, id DESC);
CREATE INDEX files_by_user ON files (org_id, mode, user_id, source, id DESC);
CREATE INDEX files_by_task ON files (task_id, id DESC) WHERE task_id IS NOT NULL;
CREATE INDEX files_by_conversation ON files (conversation_id, id DESC) WHERE conversation_id IS NOT NULL;
CREATE INDEX files_by_content ON files (org_id, sha256);
