-- What is kept for a number of days is found by its age, without a look at what is young.
CREATE INDEX events_by_age ON events (created_at);
CREATE INDEX audit_entries_by_age ON audit_entries (created_at);
CREATE INDEX run_steps_by_age ON run_steps (created_at);
CREATE INDEX tasks_open ON tasks (id) WHERE status IN ('queued', 'working', 'waiting');

-- An index by age on the log of conversations would cost every event a write. Instead each conversation says from when
-- its first event may be, and is looked at when that is long ago: about once in the time that events are kept.
ALTER TABLE conversations ADD COLUMN events_kept_from timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE conversations ALTER COLUMN events_kept_from SET DEFAULT now();
CREATE INDEX conversations_by_first_event ON conversations (events_kept_from);
