-- A version calls a tool server only at the URL that it fixed. Until now every version called the URL that was registered,
-- so each live version takes over the URL that it calls today.
UPDATE deployment_versions AS v
SET manifest = (
  SELECT json_object_agg(setting.key, CASE setting.key WHEN 'mcp_servers' THEN (
    SELECT json_agg(CASE WHEN s.id IS NULL THEN named.server
                         ELSE json_build_object('id', s.id, 'slug', s.slug, 'url', s.url) END ORDER BY named.place)
    FROM json_array_elements(v.manifest -> 'mcp_servers') WITH ORDINALITY AS named (server, place)
    LEFT JOIN mcp_servers s ON s.org_id = v.org_id AND s.id = named.server ->> 'id') ELSE setting.value END)
  FROM json_each(v.manifest) AS setting)
FROM deployments AS d
WHERE d.id = v.deployment_id AND d.live_version = v.version AND EXISTS (
  SELECT FROM json_array_elements(v.manifest -> 'mcp_servers') AS named (server)
  JOIN mcp_servers s ON s.org_id = v.org_id AND s.id = named.server ->> 'id'
  WHERE s.url <> named.server ->> 'url');

-- Versions list deleted servers as they list deleted notebooks and skills.
UPDATE deployment_versions AS v
SET missing = v.missing || gone.ids
FROM (
  SELECT deployment_id, version, array_agg(used) AS ids
  FROM deployment_versions, unnest(uses) AS used
  WHERE used LIKE 'mcp\_%' AND NOT EXISTS (SELECT FROM mcp_servers s WHERE s.org_id = deployment_versions.org_id AND s.id = used)
  GROUP BY deployment_id, version) AS gone
WHERE gone.deployment_id = v.deployment_id AND gone.version = v.version;
