-- The company's secret that signs deliveries, if the deployment file names one. Its value is read when a delivery is signed.
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS secret_name text;
