-- Text of others stands in the same marks from message to message, so that what a vendor has read of a conversation is still in its cache.
ALTER TABLE conversations ADD COLUMN fence text NOT NULL DEFAULT substr(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 1, 24);

-- What a person says to work that is under way. `step_index`: how many steps the work had when it took it up; null until then.
CREATE TABLE work_notes (
  task_id text NOT NULL,
  id text NOT NULL,
  text text NOT NULL,
  step_index integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (task_id, id)
);
