-- The ids of the spend rows behind an entry. The roll-up adds these rows to the sums below. Null: an older version wrote
-- the entry, and nobody knows its rows.
ALTER TABLE unfolded_entries ADD COLUMN spend_ids text[];

-- The days whose ledger rows are in the two tables below, except the rows of unfolded entries. Other days are read from
-- the ledger. Lock the wallet before writing any of the three.
CREATE TABLE usage_summed_days (
  org_id text NOT NULL REFERENCES orgs,
  mode text NOT NULL,
  day date NOT NULL,
  PRIMARY KEY (org_id, mode, day)
);

-- user_id '*' is the whole org. '' is spend without a user, deployment or model.
CREATE TABLE usage_days (
  org_id text NOT NULL,
  mode text NOT NULL,
  user_id text NOT NULL,
  day date NOT NULL,
  deployment_id text NOT NULL,
  model text NOT NULL,
  kind text NOT NULL,
  cost_micros bigint NOT NULL,
  input_tokens numeric NOT NULL,
  output_tokens numeric NOT NULL,
  PRIMARY KEY (org_id, mode, user_id, day, deployment_id, model, kind)
) WITH (fillfactor = 80);
CREATE INDEX usage_days_of_users ON usage_days (org_id, mode, day) WHERE user_id <> '*';

-- One row per conversation or task and day. A task also names its models and kinds, because tasks are counted by them.
CREATE TABLE usage_work_days (
  org_id text NOT NULL,
  mode text NOT NULL,
  user_id text NOT NULL,
  day date NOT NULL,
  conversation_id text NOT NULL,
  task_id text NOT NULL,
  deployment_id text NOT NULL,
  models text[] NOT NULL DEFAULT '{}',
  kinds text[] NOT NULL DEFAULT '{}',
  cost_micros bigint NOT NULL,
  input_tokens numeric NOT NULL,
  output_tokens numeric NOT NULL,
  PRIMARY KEY (org_id, mode, user_id, day, conversation_id, task_id, deployment_id)
) WITH (fillfactor = 80);
CREATE INDEX usage_work_days_by_day ON usage_work_days (org_id, mode, day);
CREATE INDEX usage_work_days_of_tasks ON usage_work_days (org_id, mode, day) WHERE task_id <> '';

-- A process of the version before rolls entries up without adding them to the sums. Its days must be summed again.
CREATE FUNCTION forget_usage_sums() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('vestra.sums_usage', true) IS DISTINCT FROM 'on' THEN
    DELETE FROM usage_summed_days s USING (SELECT DISTINCT org_id, mode, day FROM removed) AS r
    WHERE s.org_id = r.org_id AND s.mode = r.mode AND s.day = r.day;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_usage_sums AFTER DELETE ON unfolded_entries
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION forget_usage_sums();
