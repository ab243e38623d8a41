-- Notebooks are shared by both modes of an org.
CREATE TABLE notebooks (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  slug text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  -- The users whose agents may read it; null: every user's.
  reader_ids text[],
  document_count integer NOT NULL DEFAULT 0 CHECK (document_count BETWEEN 0 AND 1000),
  bytes integer NOT NULL DEFAULT 0 CHECK (bytes BETWEEN 0 AND 5242880),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, slug)
);
CREATE INDEX notebooks_by_org ON notebooks (org_id, id DESC);

CREATE TABLE documents (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  notebook_id text NOT NULL REFERENCES notebooks ON DELETE CASCADE,
  title text NOT NULL,
  content_type text NOT NULL,
  -- The text search configuration its words are stemmed by. Not a regconfig: pg_upgrade refuses tables that hold one.
  language text NOT NULL,
  bytes integer NOT NULL,
  sha256 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX documents_by_notebook ON documents (notebook_id, id DESC);

-- The text of a document, cut into passages: joined in order they are the text again, to the byte.
-- The search column is read for every candidate of a search, so rows of a page's size stay whole instead of being
-- compressed or moved out of the table.
CREATE TABLE document_passages (
  document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
  position integer NOT NULL,
  notebook_id text NOT NULL,
  language text NOT NULL,
  text text NOT NULL,
  search tsvector NOT NULL,
  PRIMARY KEY (document_id, position)
) WITH (toast_tuple_target = 8160);
-- The notebook stands in the index beside the words (as an array, since GIN takes plain text only by an extension):
-- otherwise a common word would make a search read the passages of every org. Without a pending list a search after
-- a large upload costs what every other one costs.
CREATE INDEX document_passages_by_words ON document_passages USING gin ((ARRAY[notebook_id]), search)
  WITH (fastupdate = off);
