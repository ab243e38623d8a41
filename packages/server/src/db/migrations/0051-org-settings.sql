-- What an org may set differently for each mode: a test key must not change what live users get. Both modes begin with
-- what stood for both until now.
CREATE TABLE org_settings (
  org_id text NOT NULL REFERENCES orgs ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  allowed_return_urls text[] NOT NULL DEFAULT '{}',
  allowed_embed_origins text[] NOT NULL DEFAULT '{}',
  default_deployment text REFERENCES deployments ON DELETE SET NULL,
  require_user boolean NOT NULL DEFAULT false,
  memory_panel boolean NOT NULL DEFAULT false,
  memory_mode text NOT NULL DEFAULT 'vestra',
  memory_endpoint text,
  otlp_endpoint text,
  otlp_headers_secret text,
  org_daily_micros bigint DEFAULT 100000000,
  user_daily_micros bigint DEFAULT 10000000,
  org_monthly_micros bigint,
  user_monthly_micros bigint,
  alert_thresholds integer[] NOT NULL DEFAULT '{50,80,95}',
  PRIMARY KEY (org_id, mode)
);
CREATE INDEX org_settings_by_default_deployment ON org_settings (default_deployment) WHERE default_deployment IS NOT NULL;

INSERT INTO org_settings (org_id, mode, allowed_return_urls, allowed_embed_origins, default_deployment, require_user,
  memory_panel, memory_mode, memory_endpoint, otlp_endpoint, otlp_headers_secret, org_daily_micros, user_daily_micros,
  org_monthly_micros, user_monthly_micros, alert_thresholds)
SELECT orgs.id, modes.mode, allowed_return_urls, allowed_embed_origins, default_deployment, require_user,
  memory_panel, memory_mode, memory_endpoint, otlp_endpoint, otlp_headers_secret, org_daily_micros, user_daily_micros,
  org_monthly_micros, user_monthly_micros, alert_thresholds
FROM orgs CROSS JOIN (VALUES ('test'), ('live')) AS modes (mode);

ALTER TABLE orgs
  DROP COLUMN allowed_return_urls, DROP COLUMN allowed_embed_origins, DROP COLUMN default_deployment,
  DROP COLUMN require_user, DROP COLUMN memory_panel, DROP COLUMN memory_mode, DROP COLUMN memory_endpoint,
  DROP COLUMN otlp_endpoint, DROP COLUMN otlp_headers_secret, DROP COLUMN org_daily_micros,
  DROP COLUMN user_daily_micros, DROP COLUMN org_monthly_micros, DROP COLUMN user_monthly_micros,
  DROP COLUMN alert_thresholds;
