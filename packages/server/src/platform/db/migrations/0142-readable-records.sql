-- The message that started a task. Null in rows of older versions, which read it from the turn.
ALTER TABLE tasks ADD COLUMN ask text;

-- Why the turn that ended last failed; null if it did not.
ALTER TABLE conversations ADD COLUMN last_error_code text;
ALTER TABLE conversations ADD COLUMN last_error_message text;

-- The first words of a conversation, written once with its first message. A table of its own, because each message
-- rewrites the row of its conversation. The key deletes the preview with its conversation, also in an older version.
CREATE TABLE conversation_previews (
  conversation_id text PRIMARY KEY REFERENCES conversations ON DELETE CASCADE,
  org_id text NOT NULL,
  mode text NOT NULL,
  preview text NOT NULL,
  -- The words for the filter `q`.
  words tsvector NOT NULL
);

-- Whether the deployment that the routine names is archived. Such a routine has no next run.
ALTER TABLE routines ADD COLUMN deployment_archived boolean NOT NULL DEFAULT false;
UPDATE routines SET deployment_archived = true, next_run_at = NULL
FROM deployments d WHERE d.id = routines.deployment_id AND d.status = 'archived';
