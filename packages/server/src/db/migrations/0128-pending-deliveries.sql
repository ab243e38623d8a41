-- Attempts that are still to be made lie apart from those that were made, under the name of both. Who looks for what is due
-- walks over everything that has left the index since the last vacuum, and a vacuum of the history comes the later the longer
-- it is; the few that wait are vacuumed within a minute.
ALTER TABLE webhook_deliveries RENAME TO webhook_deliveries_made;
ALTER TABLE webhook_deliveries_made DROP CONSTRAINT webhook_deliveries_pkey;
DROP INDEX webhook_deliveries_due, webhook_deliveries_due_by_endpoint;

CREATE TABLE webhook_deliveries (
  LIKE webhook_deliveries_made INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
  PRIMARY KEY (org_id, mode, endpoint_id, id, status)
) PARTITION BY LIST (status);

CREATE TABLE webhook_deliveries_pending PARTITION OF webhook_deliveries FOR VALUES IN ('pending');
CREATE INDEX webhook_deliveries_due ON webhook_deliveries_pending (due_at);
CREATE INDEX webhook_deliveries_due_by_endpoint ON webhook_deliveries_pending (endpoint_id, due_at, id);
CREATE INDEX webhook_deliveries_pending_by_event ON webhook_deliveries_pending (event_id, endpoint_id);

WITH waiting AS (DELETE FROM webhook_deliveries_made WHERE status = 'pending' RETURNING *)
INSERT INTO webhook_deliveries_pending SELECT * FROM waiting;
ALTER TABLE webhook_deliveries ATTACH PARTITION webhook_deliveries_made FOR VALUES IN ('succeeded', 'failed');
