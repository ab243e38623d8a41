import { area } from '../requirement.ts';

export const skills = area('skills', 'done', [
  [
    'SKL-001',
    'configuration.md · Skill and skill version',
    'A skill shows `object: skill`, `id`, `source`, `slug`, `name`, `description`, `version`, `sha256`, `created_at`, `updated_at`.',
  ],
  [
    'SKL-002',
    'configuration.md · Skill and skill version',
    'A company skill has a `skl_` id and `source: company`; a built-in one has id null and `source: built_in`.',
  ],
  [
    'SKL-003',
    'configuration.md · Skill and skill version',
    '`name` and `description` are taken from the frontmatter of `SKILL.md`.',
  ],
  [
    'SKL-004',
    'configuration.md · Skill and skill version',
    "The agent sees name and description of its skills and reads a skill's files when it uses it.",
  ],
  [
    'SKL-005',
    'configuration.md · Skill and skill version',
    '`version` is the content hash of the current version, null for a built-in skill.',
  ],
  [
    'SKL-006',
    'configuration.md · Skill and skill version',
    '`sha256` is the same for the same folder however it was sent, and null for a built-in skill.',
  ],
  [
    'SKL-007',
    'configuration.md · Skill and skill version',
    '`files` with `{path, bytes, content}` appears on get-one only.',
  ],
  [
    'SKL-008',
    'configuration.md · Skill and skill version',
    'A skill version shows `object: skill_version`, `hash`, `parent_hash` (null for the first) and `created_at`.',
  ],
  [
    'SKL-009',
    'configuration.md · Skills',
    '`GET /v1/skills` lists company skills by pages; `source=built_in` lists the built-in ones.',
  ],
  ['SKL-010', 'configuration.md · Skills', '`POST /v1/skills` with `files` answers 201 with the skill.'],
  [
    'SKL-011',
    'configuration.md · Skills',
    '`files` takes 1 to 200 items of `{path (1 to 200), content (at most 1048576 characters)}`.',
  ],
  ['SKL-012', 'configuration.md · Skills', 'A bundle without a `SKILL.md` at its top answers 400 `invalid_skill`.'],
  [
    'SKL-013',
    'configuration.md · Skills',
    '`SKILL.md` without readable frontmatter that names the skill answers 400 `invalid_frontmatter`.',
  ],
  ['SKL-014', 'configuration.md · Skills', '`GET /v1/skills/{skill_id}` answers the skill with its files.'],
  [
    'SKL-015',
    'configuration.md · Skills',
    '`PUT /v1/skills/{skill_id}` with other files makes a new version whose `parent_hash` is the one before.',
  ],
  [
    'SKL-016',
    'configuration.md · Skills',
    '`DELETE /v1/skills/{skill_id}` answers `{object: skill, id, deleted: true}` and removes it from every user.',
  ],
  ['SKL-017', 'configuration.md · Skills', '`GET /v1/skills/{skill_id}/versions` lists versions by pages.'],
  ['SKL-018', 'configuration.md · Skills', 'A file that is not text answers 400 `binary_file`.'],
  ['SKL-019', 'configuration.md · Skills', 'A bundle over 5 MB answers 400 `bundle_too_large`.'],
  ['SKL-020', 'configuration.md · Skills', 'The same path twice answers 400 `duplicate_path`.'],
  ['SKL-021', 'configuration.md · Skills', 'A skill file over 1 MB answers 400 `file_too_large`.'],
  ['SKL-022', 'configuration.md · Skills', 'A zip that cannot be read answers 400 `invalid_zip`.'],
  ['SKL-023', 'decisions.md · 6', 'A skill is taken as `Content-Type: application/zip`.'],
  ['SKL-024', 'decisions.md · 6', 'A skill is taken as multipart with one part `file`.'],
  [
    'SKL-025',
    'decisions.md · 6',
    '`sha256` of a bundle is SHA-256 over the files sorted by path, each as path, NUL, byte length, NUL, bytes.',
  ],
  ['SKL-026', 'decisions.md · 9', 'A NUL byte in a skill file answers 400 `binary_file`.'],
  [
    'SKL-027',
    'decisions.md · 9',
    '201 files, or a path that is absolute, climbs with `..` or is empty, answer 400 `invalid_skill`.',
  ],
  ['SKL-028', 'decisions.md · 9', 'Putting the same files again makes no new version.'],
  ['SKL-029', 'decisions.md · 10', '`file_too_large` has status 400 for a file in a skill.'],
  ['SKL-030', 'decisions.md · 3', 'An unknown skill answers 404 `skill_not_found`.'],
  ['SKL-031', 'docs/deployment-file.md · skills', '`GET /v1/skills/{name}` reads a built-in skill with its files.'],
  [
    'SKL-121',
    'decisions.md · 11',
    'Deleting a skill that a live version uses with a test key answers 409 `skill_live`.',
  ],
  [
    'SKL-122',
    'decisions.md · 11',
    'A skill deleted with a live key goes: live traffic goes on without it, and versions that used it list it as `missing`.',
  ],
  ['SKL-123', 'decisions.md · 11', 'Local skills of one name in two deployments are two skills.'],
  [
    'SKL-124',
    'configuration.md · Skills',
    'A skill that was deleted, renamed or changed is gone from every computer at its next use; what a person made there stays.',
  ],
  [
    'SKL-125',
    'configuration.md · Skills',
    'Built-in skills make and read DOCX, XLSX, PPTX, PDF and charts and fill PDF forms on a computer, or say which package is missing.',
  ],
]);
