-- How often a scenario is played in a run; null: once. The plays that have ended are kept beside the verdict on them all.
ALTER TABLE scenarios ADD COLUMN IF NOT EXISTS runs integer;
ALTER TABLE test_run_results ADD COLUMN IF NOT EXISTS plays json NOT NULL DEFAULT '[]';
