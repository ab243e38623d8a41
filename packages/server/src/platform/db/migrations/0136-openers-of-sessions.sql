-- The API key or the grant of an MCP client that opened the session; null if a member did. The session ends with it.
ALTER TABLE sessions ADD COLUMN opened_by text;
