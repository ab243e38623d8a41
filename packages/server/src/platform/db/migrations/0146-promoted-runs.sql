-- Whether the run promoted its version. Null before the end, and for runs before this column.
ALTER TABLE test_runs ADD COLUMN IF NOT EXISTS promoted boolean;
