DROP INDEX CONCURRENTLY IF EXISTS batch_items_by_conversation;
CREATE INDEX CONCURRENTLY batch_items_by_conversation ON batch_items (conversation_id) WHERE conversation_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS sessions_by_conversation;
CREATE INDEX CONCURRENTLY sessions_by_conversation ON sessions (conversation_id) WHERE conversation_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS replay_talks_by_source;
CREATE INDEX CONCURRENTLY replay_talks_by_source ON replay_talks (source_id);
