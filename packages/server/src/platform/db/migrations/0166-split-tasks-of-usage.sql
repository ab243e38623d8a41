-- True for every row of a task with several rows, such as one that worked past midnight. The others are counted without
-- comparing ids. A row may stay true after the other rows are gone: its task is then compared, and counted once as well.
ALTER TABLE usage_work_days ADD COLUMN is_split boolean NOT NULL DEFAULT false;

UPDATE usage_work_days AS w SET is_split = true
FROM (SELECT org_id, mode, task_id FROM usage_work_days WHERE task_id <> ''
  GROUP BY org_id, mode, task_id HAVING count(*) > 1) AS s
WHERE w.org_id = s.org_id AND w.mode = s.mode AND w.task_id = s.task_id;

-- A trigger, because the version before writes rows as well, and so do moves of users and orgs.
CREATE FUNCTION mark_split_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE usage_work_days AS w SET is_split = true
  FROM (SELECT DISTINCT org_id, mode, task_id FROM added WHERE task_id <> '') AS a
  WHERE w.org_id = a.org_id AND w.mode = a.mode AND w.task_id = a.task_id AND w.task_id <> '' AND NOT w.is_split
    AND EXISTS (SELECT FROM usage_work_days AS o WHERE o.org_id = w.org_id AND o.mode = w.mode
      AND o.task_id = w.task_id AND o.task_id <> '' AND o.ctid <> w.ctid);
  RETURN NULL;
END $$;
CREATE TRIGGER mark_split_tasks AFTER INSERT ON usage_work_days
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mark_split_tasks();
