-- Counts the tasks of days without reading their rows.
DROP INDEX CONCURRENTLY IF EXISTS usage_work_days_counted;
CREATE INDEX CONCURRENTLY usage_work_days_counted ON usage_work_days (org_id, mode, is_split, day)
  INCLUDE (user_id, deployment_id, task_id) WHERE task_id <> '';
DROP INDEX CONCURRENTLY IF EXISTS usage_work_days_of_tasks;
