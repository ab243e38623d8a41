-- When a version first went live. The stack of promotions forgets versions that were rolled back; the audit log has them.
ALTER TABLE deployment_versions ADD COLUMN IF NOT EXISTS live_at timestamptz;
UPDATE deployment_versions AS v SET live_at = known.at
FROM (
  SELECT deployment_id, version, min(at) AS at FROM (
    SELECT deployment_id, version, created_at AS at FROM live_promotions
    UNION ALL
    SELECT target_id, (details ->> 'version')::integer, created_at FROM audit_entries
    WHERE action = 'deployment.promoted' AND mode = 'live' AND details ->> 'version' ~ '^[0-9]{1,9}$') AS promoted
  GROUP BY deployment_id, version) AS known
WHERE known.deployment_id = v.deployment_id AND known.version = v.version AND v.live_at IS NULL;
