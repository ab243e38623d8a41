-- Finds the rows of one task. The org is not in the index: until PostgreSQL has counted a new table, every index whose
-- first columns are known looks equally good to it, and it read all rows of the org for each task.
DROP INDEX CONCURRENTLY IF EXISTS usage_work_days_of_task;
CREATE INDEX CONCURRENTLY usage_work_days_of_task ON usage_work_days (task_id) WHERE task_id <> '';
DROP INDEX CONCURRENTLY IF EXISTS usage_work_days_by_task;
