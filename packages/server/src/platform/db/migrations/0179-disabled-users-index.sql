-- The few disabled users of an org, for the list.
DROP INDEX CONCURRENTLY IF EXISTS users_disabled;
CREATE INDEX CONCURRENTLY users_disabled ON users (org_id, mode, created_at DESC, id DESC) WHERE status = 'disabled';
