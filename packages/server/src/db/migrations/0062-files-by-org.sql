-- A page of the files of a task or a conversation begins with the org and its mode, as every page of a list does.
DROP INDEX files_by_task;
CREATE INDEX files_by_task ON files (org_id, mode, task_id, source, id DESC) WHERE task_id IS NOT NULL;
DROP INDEX files_by_conversation;
CREATE INDEX files_by_conversation ON files (org_id, mode, conversation_id, source, id DESC)
  WHERE conversation_id IS NOT NULL;
