-- The rows of one task, to find those that have more than one.
DROP INDEX CONCURRENTLY IF EXISTS usage_work_days_by_task;
CREATE INDEX CONCURRENTLY usage_work_days_by_task ON usage_work_days (org_id, mode, task_id) WHERE task_id <> '';
