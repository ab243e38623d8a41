-- What the model thought on the way to a step, as its vendor wants it back: for that model alone, and shown to nobody.
ALTER TABLE run_steps ADD COLUMN reasoning json;

-- The pictures and recordings that a tool answered with, by their files: [{file_id, media_type, bytes, width, height}].
ALTER TABLE run_calls ADD COLUMN media json;

-- What a tool answered with is a file of the source `tool`, which no list shows and which goes with the trace.
CREATE INDEX files_of_tools_by_age ON files (created_at) WHERE source = 'tool';
