-- A version sends a tool server the headers that it fixed. Until now every version sent the registered ones, so each
-- version takes over the headers that it sends today. A version whose server moved sent none: it stays as it is.
UPDATE deployment_versions AS v
SET content = (v.content::jsonb || jsonb_build_object('servers', fixed.servers))::json
FROM (
  SELECT versions.deployment_id, versions.version, jsonb_object_agg(s.id, jsonb_build_object('headers', s.headers)) AS servers
  FROM deployment_versions AS versions
  CROSS JOIN json_array_elements(versions.manifest -> 'mcp_servers') AS named (server)
  JOIN mcp_servers s ON s.org_id = versions.org_id AND s.id = named.server ->> 'id' AND s.url = named.server ->> 'url'
  GROUP BY versions.deployment_id, versions.version) AS fixed
WHERE fixed.deployment_id = v.deployment_id AND fixed.version = v.version AND v.content -> 'servers' IS NULL;
