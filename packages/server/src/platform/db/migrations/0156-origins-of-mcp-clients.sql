-- Where a client was registered, as a hash: clients of one address push each other out before those of others.
SET lock_timeout = '2s';
ALTER TABLE registered_mcp_clients ADD COLUMN IF NOT EXISTS registered_from text;
RESET lock_timeout;
