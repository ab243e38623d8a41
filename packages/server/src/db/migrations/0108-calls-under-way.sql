-- A tool call that its MCP server goes on with by itself: what to ask the server for it by.
ALTER TABLE run_calls ADD COLUMN under_way jsonb;

-- Whether the server may ask the agent's model.
ALTER TABLE mcp_servers ADD COLUMN sampling boolean NOT NULL DEFAULT false;
