-- What kind of deed each tool of a version does, as it was judged when the version first ran with that description: other
-- words in a later release change nothing for a version that is in use, and a changed description is judged anew.
CREATE TABLE tool_categories (
  deployment_id text NOT NULL,
  version integer NOT NULL,
  -- As the model calls it.
  tool text NOT NULL,
  -- SHA-256.
  description_hash bytea NOT NULL,
  -- Null: of no kind that approvals know.
  category text,
  PRIMARY KEY (deployment_id, version, tool, description_hash),
  FOREIGN KEY (deployment_id, version) REFERENCES deployment_versions ON DELETE CASCADE
);
