-- How requests to a model changed after its provider rejected one. It names no tool, no schema and no org. Rows expire after
-- a week, so that a provider's fix is noticed.
CREATE TABLE IF NOT EXISTS model_adjustments (
  -- A digest of the provider, its address and the name of the model there.
  endpoint text NOT NULL,
  key text NOT NULL,
  model text NOT NULL,
  sentence text NOT NULL,
  learnt_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (endpoint, key)
);
