-- The documents, notebooks and skills that the output of a call shows. A deletion empties the calls that name the source.
SET lock_timeout = '2s';
ALTER TABLE run_calls ADD COLUMN IF NOT EXISTS sources text[];
RESET lock_timeout;

DROP INDEX CONCURRENTLY IF EXISTS run_calls_by_source;
CREATE INDEX CONCURRENTLY run_calls_by_source ON run_calls USING gin (sources) WHERE sources <> '{}';

-- Calls from before this column, of which nobody knows what they read.
DROP INDEX CONCURRENTLY IF EXISTS run_calls_without_sources;
CREATE INDEX CONCURRENTLY run_calls_without_sources ON run_calls (id)
  WHERE sources IS NULL AND name IN ('search_notebooks', 'read_document', 'use_skill');
