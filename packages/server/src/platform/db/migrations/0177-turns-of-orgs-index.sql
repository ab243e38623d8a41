-- The newest messages of an org, for the overview. None of its columns changes, so updates of a turn do not write it.
DROP INDEX CONCURRENTLY IF EXISTS turns_by_org;
CREATE INDEX CONCURRENTLY turns_by_org ON turns (org_id, mode, created_at DESC);
