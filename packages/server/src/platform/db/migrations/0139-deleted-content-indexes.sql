-- The copies of a deleted file: in messages and on computers.
DROP INDEX CONCURRENTLY IF EXISTS messages_by_file;
CREATE INDEX CONCURRENTLY messages_by_file ON messages USING gin (attachments jsonb_path_ops) WHERE attachments <> '[]';
DROP INDEX CONCURRENTLY IF EXISTS computer_preparations_by_file;
CREATE INDEX CONCURRENTLY computer_preparations_by_file ON computer_preparations (file_id) WHERE file_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS computer_preparations_by_conversation;
CREATE INDEX CONCURRENTLY computer_preparations_by_conversation ON computer_preparations (conversation_id)
  WHERE conversation_id IS NOT NULL;
-- The calls in which an agent stored or read a memory, for the deletion of memories.
DROP INDEX CONCURRENTLY IF EXISTS run_calls_of_memory;
CREATE INDEX CONCURRENTLY run_calls_of_memory ON run_calls (run_id) WHERE name IN ('recall', 'remember');
