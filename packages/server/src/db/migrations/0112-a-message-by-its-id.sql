-- A rating names the message alone.
CREATE INDEX messages_by_id ON messages (id);
ALTER TABLE message_feedback RENAME COLUMN comment TO note;
