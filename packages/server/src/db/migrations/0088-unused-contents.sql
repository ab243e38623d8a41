-- What lies in the file store and may belong to no file: noted before it is put there and when a file that had it is
-- deleted, forgotten when a file has it or it is removed. A crash in between, or a store that is away, leaves the note.
CREATE TABLE unused_contents (
  org_id text NOT NULL,
  sha256 text NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, sha256)
);
CREATE INDEX unused_contents_by_age ON unused_contents (since);
