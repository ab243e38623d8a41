DROP INDEX CONCURRENTLY IF EXISTS conversations_by_deployment;
CREATE INDEX CONCURRENTLY conversations_by_deployment ON conversations (org_id, mode, deployment_id, id DESC);
-- Its columns change with a failure, and not with each message.
DROP INDEX CONCURRENTLY IF EXISTS conversations_failed;
CREATE INDEX CONCURRENTLY conversations_failed ON conversations (org_id, mode, id DESC) WHERE last_error_code IS NOT NULL;
-- A first message waits for few words at once to be sorted into it.
DROP INDEX CONCURRENTLY IF EXISTS conversation_previews_by_words;
CREATE INDEX CONCURRENTLY conversation_previews_by_words ON conversation_previews
  USING gin ((ARRAY[org_id || ' ' || mode]), words) WITH (gin_pending_list_limit = 256);
