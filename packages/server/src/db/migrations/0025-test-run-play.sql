-- When its play began: a play that a restart cut off goes on in the same conversation, and lasts from its beginning.
ALTER TABLE test_run_results ADD COLUMN started_at timestamptz;

CREATE INDEX test_runs_open ON test_runs (created_at) WHERE status IN ('queued', 'running');
