-- Work that goes on behind requests. A row is a hint that there is something to do: what it is about says what.
CREATE TABLE jobs (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  -- What it is about, so that work without a job can be told from work with one.
  key text,
  -- Whose it is: the org, a space and a hash of its user. Empty in a queue whose slots are not shared.
  share text COLLATE "C" NOT NULL DEFAULT '',
  payload jsonb NOT NULL,
  -- When it may be taken. For as long as a worker runs it, until when nobody else does: one that dies need not be found.
  due_at timestamptz NOT NULL DEFAULT now(),
  is_held boolean NOT NULL DEFAULT false,
  -- Goes up with each claim: what is settled under an old one is left alone.
  attempts integer NOT NULL DEFAULT 0,
  -- Of the handler. A worker that dies is none of them.
  failures integer NOT NULL DEFAULT 0,
  given_up_at timestamptz,
  given_up text,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX jobs_due ON jobs (name, share, due_at, id);
CREATE INDEX jobs_by_key ON jobs (name, key);
CREATE INDEX jobs_given_up ON jobs (given_up_at) WHERE given_up_at IS NOT NULL;

-- What waits or runs in the queues of versions before this one. Jobs that recur are made anew at every start.
DO $$
BEGIN
  IF to_regclass('jobs.job') IS NULL THEN RETURN; END IF;
  INSERT INTO public.jobs (id, name, key, share, payload, due_at, failures, created_at)
  SELECT id, name, singleton_key,
    CASE WHEN group_id IS NULL THEN '' ELSE split_part(group_id, ' ', 1) || ' ' || left(encode(sha256(
      convert_to(substr(group_id, length(split_part(group_id, ' ', 1)) + 2), 'UTF8')), 'hex'), 16) END,
    data -> 'payload', CASE WHEN state = 'active' THEN now() ELSE start_after END, (data ->> 'failures')::integer, created_on
  FROM jobs.job
  WHERE state < 'completed' AND data -> 'payload' <> '{}' AND jsonb_typeof(data -> 'failures') = 'number';
  DROP SCHEMA jobs CASCADE;
END
$$;
