-- Which model judged, and for each line whether it could tell. Until now a line that the judge could not tell was written
-- down as one that is not met, so earlier verdicts count as decided.
ALTER TABLE test_run_results ADD COLUMN judged_by text;
UPDATE test_run_results SET
  criteria = coalesce((SELECT json_agg(line || '{"decided": true}') FROM jsonb_array_elements(criteria::jsonb) line), '[]'),
  must_never = coalesce((SELECT json_agg(line || '{"decided": true}') FROM jsonb_array_elements(must_never::jsonb) line), '[]')
  WHERE status IN ('passed', 'failed', 'error');
