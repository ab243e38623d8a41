-- What tools answer to certain arguments, where one answer for each tool does not tell a talk. `json` and not `jsonb`: a
-- tool answers its keys in the order in which they were written down.
ALTER TABLE scenarios ADD COLUMN recorded_calls json;
