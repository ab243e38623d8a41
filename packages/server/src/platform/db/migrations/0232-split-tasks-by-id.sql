-- Compares by the id of the task alone, so that only the index on it is of use. Should another org have a task with the
-- same id, both are marked: they are then compared, and counted once as well. While the table looks
-- small, the settings keep PostgreSQL from planning to read all of it, because each session keeps that plan.
CREATE OR REPLACE FUNCTION mark_split_tasks() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  UPDATE usage_work_days AS w SET is_split = true
  FROM (SELECT DISTINCT task_id FROM added WHERE task_id <> '') AS a
  WHERE w.task_id = a.task_id AND w.task_id <> '' AND NOT w.is_split
    AND EXISTS (SELECT FROM usage_work_days AS o WHERE o.task_id = w.task_id AND o.task_id <> '' AND o.ctid <> w.ctid);
  RETURN NULL;
END $$;
