-- What the tool's server said of it when it first waited: a tool that once waited for a yes because it may change something
-- goes on waiting in that version, whatever its server says later.
ALTER TABLE tool_categories ADD COLUMN was_read_only boolean NOT NULL DEFAULT false;
