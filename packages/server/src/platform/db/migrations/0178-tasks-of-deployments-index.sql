-- The newest tasks of one deployment, for the list.
DROP INDEX CONCURRENTLY IF EXISTS tasks_by_deployment;
CREATE INDEX CONCURRENTLY tasks_by_deployment ON tasks (org_id, mode, deployment_id, id DESC);
