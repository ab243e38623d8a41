-- A version fixes the content of its computer's files. Until now it named uploads of one mode, so each version takes over
-- the content of the uploads that are still there, and keeps it by its hash among `uses`. The order of keys stays: it is
-- part of what a model reads.
UPDATE deployment_versions AS v
SET uses = v.uses || fixed.hashes, manifest = (
  SELECT json_object_agg(setting.key, CASE setting.key WHEN 'environment' THEN (
    SELECT json_object_agg(part.key, CASE part.key WHEN 'files' THEN fixed.files ELSE part.value END)
    FROM json_each(setting.value) AS part) ELSE setting.value END)
  FROM json_each(v.manifest) AS setting)
FROM (
  SELECT versions.deployment_id, versions.version, array_agg(DISTINCT 'sha256:' || f.sha256) FILTER (WHERE f.id IS NOT NULL) AS hashes,
    json_agg(CASE WHEN f.id IS NULL THEN named.file ELSE json_build_object(
      'file_id', named.file ->> 'file_id', 'path', named.file ->> 'path', 'sha256', f.sha256) END ORDER BY named.place) AS files
  FROM deployment_versions AS versions
  CROSS JOIN json_array_elements(versions.manifest -> 'environment' -> 'files') WITH ORDINALITY AS named (file, place)
  LEFT JOIN files f ON f.org_id = versions.org_id AND f.id = named.file ->> 'file_id'
  WHERE NOT EXISTS (SELECT FROM unnest(versions.uses) AS used WHERE used LIKE 'sha256:%')
  GROUP BY versions.deployment_id, versions.version) AS fixed
WHERE fixed.deployment_id = v.deployment_id AND fixed.version = v.version AND fixed.hashes IS NOT NULL;
