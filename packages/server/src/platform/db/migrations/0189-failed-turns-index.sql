-- The turns of an org that failed since a time. They are few, and a turn that succeeds never writes it.
DROP INDEX CONCURRENTLY IF EXISTS turns_failed;
CREATE INDEX CONCURRENTLY turns_failed ON turns (org_id, mode, created_at DESC) WHERE state = 'failed';
