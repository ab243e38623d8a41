-- What the agent remembers about a user, or (user_id null) what the org's own agent remembers. The key to the user
-- keeps a late writer from bringing back what an erasure has removed.
CREATE TABLE memories (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  id text NOT NULL,
  user_id text,
  text text NOT NULL,
  kind text NOT NULL,
  source text NOT NULL,
  -- SHA-256 of the text without case, punctuation and spacing: the same fact is kept once.
  fingerprint bytea NOT NULL,
  search tsvector NOT NULL,
  -- 512 signed bytes, whose direction is the meaning, made by the model named beside it. No vector extension: a search
  -- compares at most the 2,000 facts of one user, a megabyte, in a few milliseconds.
  vector bytea,
  vector_model text,
  observed_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, mode, id),
  FOREIGN KEY (org_id, mode, user_id) REFERENCES users ON DELETE CASCADE,
  UNIQUE NULLS NOT DISTINCT (org_id, mode, user_id, fingerprint)
);
CREATE INDEX memories_by_user ON memories (org_id, mode, user_id, observed_at DESC, id DESC);

-- Written anew with every change of the facts it is made of.
CREATE TABLE memory_profiles (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  markdown text NOT NULL,
  updated_at timestamptz NOT NULL,
  FOREIGN KEY (org_id, mode, user_id) REFERENCES users ON DELETE CASCADE,
  UNIQUE NULLS NOT DISTINCT (org_id, mode, user_id)
);

-- The vectors of a document's sentences, one after the other, and the passage that each stands in. They are made together
-- and read together, and a table of their own leaves the passages and their word index untouched.
CREATE TABLE document_vectors (
  document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
  model text NOT NULL,
  positions integer[] NOT NULL,
  vectors bytea NOT NULL,
  PRIMARY KEY (document_id, model)
);
-- Bytes of this kind do not get smaller.
ALTER TABLE document_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;
