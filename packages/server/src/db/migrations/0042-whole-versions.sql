-- A version fixes the content of the notebooks and skills that it names.

-- Each change of a notebook's documents is a revision of it. A document never changes: it says in which revisions it is,
-- without an end while it is in the newest. So fixing a notebook is keeping a number, and a text is kept once however many
-- versions fix it. A document that is in no revision that is newest or fixed is removed.
ALTER TABLE notebooks ADD COLUMN revision integer NOT NULL DEFAULT 1;
ALTER TABLE documents ADD COLUMN revisions int4multirange NOT NULL DEFAULT '{[1,)}';
ALTER TABLE documents ALTER COLUMN revisions DROP DEFAULT;
CREATE INDEX documents_in_newest ON documents (notebook_id, id DESC) WHERE upper_inf(revisions);
CREATE INDEX documents_kept_for_versions ON documents (notebook_id, sha256) WHERE NOT upper_inf(revisions);

-- The slug finds a skill again and the name is what agents call it: two deployments may have one of the same name each.
ALTER TABLE skills ADD COLUMN name text;
UPDATE skills SET name = slug;
ALTER TABLE skills ALTER COLUMN name SET NOT NULL;
-- As SKILL.md had them in that version. Of versions before the current one nobody has kept them, and none of these is fixed.
ALTER TABLE skill_versions ADD COLUMN name text, ADD COLUMN description text;
UPDATE skill_versions SET name = skills.name, description = skills.description
FROM skills WHERE skills.id = skill_versions.skill_id;
ALTER TABLE skill_versions ALTER COLUMN name SET NOT NULL, ALTER COLUMN description SET NOT NULL;
CREATE INDEX skill_versions_by_hash ON skill_versions (skill_id, hash, number DESC);

-- The revision of each notebook and the hash of each skill. What was saved before fixes what stands there now.
ALTER TABLE deployment_versions ADD COLUMN content json;
-- Ids of notebooks and skills that have been deleted since: the one thing of a version that changes.
ALTER TABLE deployment_versions ADD COLUMN missing text[] NOT NULL DEFAULT '{}';
UPDATE deployment_versions AS v SET
  content = json_build_object(
    'notebooks', coalesce((
      SELECT json_object_agg(n.id, n.revision) FROM notebooks n WHERE n.org_id = v.org_id AND n.id = ANY (v.uses)), '{}'),
    'skills', coalesce((
      SELECT json_object_agg(s.id, s.hash) FROM skills s WHERE s.org_id = v.org_id AND s.id = ANY (v.uses)), '{}')),
  missing = ARRAY(
    SELECT used FROM unnest(v.uses) AS used
    WHERE (used LIKE 'nb\_%' AND NOT EXISTS (SELECT FROM notebooks n WHERE n.org_id = v.org_id AND n.id = used))
      OR (used LIKE 'skl\_%' AND NOT EXISTS (SELECT FROM skills s WHERE s.org_id = v.org_id AND s.id = used)));
ALTER TABLE deployment_versions ALTER COLUMN content SET NOT NULL;

-- A change of what is live gets a number of its own and is not the newest where the draft has gone on from elsewhere: so
-- the highest number and the newest version are two things.
ALTER TABLE deployments ADD COLUMN last_version integer;
UPDATE deployments SET last_version = newest_version;
ALTER TABLE deployments
  ALTER COLUMN last_version SET NOT NULL,
  ALTER COLUMN last_version SET DEFAULT 1,
  DROP CONSTRAINT deployments_check,
  DROP CONSTRAINT deployments_check1,
  ADD CHECK (newest_version BETWEEN 1 AND last_version),
  ADD CHECK (draft_version BETWEEN 1 AND last_version),
  ADD CHECK (live_version BETWEEN 1 AND last_version);

-- Test traffic at the draft reads the newest content; everything else reads what its version fixes.
ALTER TABLE turns ADD COLUMN reads_newest boolean NOT NULL DEFAULT false;
