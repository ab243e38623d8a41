DROP INDEX CONCURRENTLY IF EXISTS usage_alerts_by_amount;
CREATE UNIQUE INDEX CONCURRENTLY usage_alerts_by_amount
  ON usage_alerts_told (org_id, mode, cap, user_id, period, threshold, cap_micros);
SET lock_timeout = '2s';
ALTER TABLE usage_alerts_told DROP CONSTRAINT usage_alerts_told_pkey,
  ADD CONSTRAINT usage_alerts_told_pkey PRIMARY KEY USING INDEX usage_alerts_by_amount;
RESET lock_timeout;
