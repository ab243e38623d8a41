-- The amount of the cap that an alert was sent for, so that a changed cap alerts again. -1 is unknown: a process of the
-- version before writes no amount.
ALTER TABLE usage_alerts_told ADD COLUMN cap_micros bigint NOT NULL DEFAULT -1;

-- Alerts of the current periods were sent for the caps of today, so they are not repeated.
UPDATE usage_alerts_told AS told SET cap_micros = COALESCE(CASE told.cap
    WHEN 'org_daily_usd' THEN settings.org_daily_micros
    WHEN 'org_monthly_usd' THEN settings.org_monthly_micros
    WHEN 'user_daily_usd' THEN LEAST(settings.user_daily_micros, (SELECT daily_cap_micros FROM users
      WHERE org_id = told.org_id AND mode = told.mode AND id = told.user_id))
    ELSE LEAST(settings.user_monthly_micros, (SELECT monthly_cap_micros FROM users
      WHERE org_id = told.org_id AND mode = told.mode AND id = told.user_id))
  END, -1)
FROM org_settings AS settings
WHERE settings.org_id = told.org_id AND settings.mode = told.mode
  AND told.period >= to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM');

-- How often a task was judged against its success criteria; null before the first time. A task that continues after
-- "not met" has its last result and verdict in the columns beside it.
ALTER TABLE tasks ADD COLUMN outcome_rounds integer;

ALTER TABLE batch_items ADD COLUMN success_criteria text;
ALTER TABLE routines ADD COLUMN success_criteria text;
