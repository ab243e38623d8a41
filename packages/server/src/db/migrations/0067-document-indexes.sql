-- How far the vectors of a document's text are, for each model that makes any: those of two models are never compared, and
-- while a new model goes through all documents the vectors of the one before stay for processes that still use it.
CREATE TABLE document_indexes (
  document_id text NOT NULL REFERENCES documents ON DELETE CASCADE,
  model text NOT NULL,
  -- The windows that the text is cut into, and how many of them have their vectors, from the first on. Who stores the next
  -- vectors moves `windows` from where they were when it began: of two processes, one.
  total integer NOT NULL,
  windows integer NOT NULL DEFAULT 0,
  begun_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  PRIMARY KEY (document_id, model)
);
INSERT INTO document_indexes (document_id, model, total, windows, completed_at)
SELECT document_id, model, cardinality(positions), cardinality(positions), now() FROM document_vectors;

-- A row for each batch of windows: what is stored can be searched while the rest is made.
ALTER TABLE document_vectors ADD COLUMN first_window integer NOT NULL DEFAULT 0;
ALTER TABLE document_vectors ALTER COLUMN first_window DROP DEFAULT;
ALTER TABLE document_vectors DROP CONSTRAINT document_vectors_pkey;
ALTER TABLE document_vectors DROP CONSTRAINT document_vectors_document_id_fkey;
ALTER TABLE document_vectors ADD PRIMARY KEY (document_id, model, first_window);
ALTER TABLE document_vectors ADD FOREIGN KEY (document_id, model) REFERENCES document_indexes ON DELETE CASCADE;

-- What a hit is cited by: the headings above the passage, the outermost first, and its page where the file had pages.
ALTER TABLE document_passages ADD COLUMN heading text NOT NULL DEFAULT '';
ALTER TABLE document_passages ADD COLUMN page integer;

-- What a reader of the run should know besides its results.
ALTER TABLE test_runs ADD COLUMN note text;
