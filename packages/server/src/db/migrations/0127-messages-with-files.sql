-- Each reply asks for the files of its conversation: without this it reads every message of a talk that has gone on for long.
CREATE INDEX messages_with_files ON messages (conversation_id, id) WHERE attachments <> '[]'::jsonb;
