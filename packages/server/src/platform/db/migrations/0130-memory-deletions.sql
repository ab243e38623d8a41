-- When somebody last deleted facts about a user, or (user_id null) of the org's own agent. Nothing said before that moment
-- is learned any more. The key to the user removes the row with an erasure.
CREATE TABLE memory_deletions (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  user_id text,
  deleted_at timestamptz NOT NULL,
  FOREIGN KEY (org_id, mode, user_id) REFERENCES users ON DELETE CASCADE,
  UNIQUE NULLS NOT DISTINCT (org_id, mode, user_id)
);
