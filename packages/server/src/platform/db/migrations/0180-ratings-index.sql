-- The newest ratings of one kind, such as the few bad ones of a deployment.
DROP INDEX CONCURRENTLY IF EXISTS message_feedback_by_rating;
CREATE INDEX CONCURRENTLY message_feedback_by_rating ON message_feedback (org_id, mode, deployment_id, rating, id DESC);
