-- The newest pending interactions, for the search for work of disabled users and deleted deployments.
DROP INDEX CONCURRENTLY IF EXISTS interactions_pending_by_age;
CREATE INDEX CONCURRENTLY interactions_pending_by_age ON interactions (created_at)
  WHERE status = 'pending' AND NOT is_hidden;
