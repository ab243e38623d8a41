import { area } from '../requirement.ts';

export const skills = area('skills', 'done', [
  [
    'SKL-001',
    'docs/api/skills.md#skill',
    'A skill shows `object: skill`, `id`, `source`, `slug`, `name`, `description`, `version`, `sha256`, `created_at`, `updated_at`.',
  ],
  [
    'SKL-002',
    'docs/api/skills.md#skill',
    'A company skill has a `skl_` id and `source: company`; a built-in one has id null and `source: built_in`.',
  ],
  [
    'SKL-003',
    'docs/api/skills.md#post-v1skills',
    '`name` and `description` are taken from the frontmatter of `SKILL.md`.',
  ],
  [
    'SKL-004',
    'docs/deployment-file-reference.md#skills',
    "The agent sees name and description of its skills and reads a skill's files when it uses it.",
  ],
  [
    'SKL-005',
    'docs/api/skills.md#skill',
    '`version` is the content hash of the current version, null for a built-in skill.',
  ],
  [
    'SKL-006',
    'docs/api/skills.md#skill',
    '`sha256` is the same for the same folder however it was sent, and null for a built-in skill.',
  ],
  [
    'SKL-007',
    'docs/api/skills.md#get-v1skillsskill_id',
    '`files` with `{path, bytes, content}` appears on get-one only.',
  ],
  [
    'SKL-008',
    'docs/api/skills.md#skillversion',
    'A skill version shows `object: skill_version`, `hash`, `parent_hash` (null for the first) and `created_at`.',
  ],
  [
    'SKL-009',
    'docs/api/skills.md#get-v1skills',
    '`GET /v1/skills` lists company skills by pages; `source=built_in` lists the built-in ones.',
  ],
  ['SKL-010', 'docs/api/skills.md#post-v1skills', '`POST /v1/skills` with `files` answers 201 with the skill.'],
  [
    'SKL-011',
    'docs/api/skills.md#put-v1skillsskill_id',
    '`files` accepts 1 to 200 items of `{path (1 to 200), content (at most 1048576 characters)}`.',
  ],
  [
    'SKL-012',
    'docs/api/skills.md#put-v1skillsskill_id',
    'A bundle without a `SKILL.md` at its top answers 400 `invalid_skill`.',
  ],
  [
    'SKL-013',
    'docs/api/skills.md#post-v1skills',
    '`SKILL.md` without readable frontmatter that names the skill answers 400 `invalid_frontmatter`.',
  ],
  [
    'SKL-014',
    'docs/api/skills.md#get-v1skillsskill_id',
    '`GET /v1/skills/{skill_id}` answers the skill with its files.',
  ],
  [
    'SKL-015',
    'docs/api/skills.md#put-v1skillsskill_id',
    '`PUT /v1/skills/{skill_id}` with other files creates a version whose `parent_hash` is the one before.',
  ],
  [
    'SKL-016',
    'docs/api/skills.md#delete-v1skillsskill_id',
    '`DELETE /v1/skills/{skill_id}` answers `{object: skill, id, deleted: true}` and removes it from every user.',
  ],
  [
    'SKL-017',
    'docs/api/skills.md#get-v1skillsskill_idversions',
    '`GET /v1/skills/{skill_id}/versions` lists versions by pages.',
  ],
  ['SKL-018', 'docs/api/skills.md#post-v1skills', 'A file that is not text answers 400 `binary_file`.'],
  ['SKL-019', 'docs/api/skills.md#put-v1skillsskill_id', 'A bundle over 5 MB answers 400 `bundle_too_large`.'],
  ['SKL-020', 'docs/api/skills.md#post-v1skills', 'The same path twice answers 400 `duplicate_path`.'],
  ['SKL-021', 'docs/api/skills.md#put-v1skillsskill_id', 'A skill file over 1 MB answers 400 `file_too_large`.'],
  ['SKL-022', 'docs/api/skills.md#post-v1skills', 'A zip that cannot be read answers 400 `invalid_zip`.'],
  ['SKL-023', 'docs/api/skills.md#post-v1skills', 'A skill is taken as `Content-Type: application/zip`.'],
  ['SKL-024', 'docs/api/skills.md#post-v1skills', 'A skill is taken as multipart with one part `file`.'],
  [
    'SKL-025',
    'docs/deployment-file-reference.md#skills',
    '`sha256` of a bundle is SHA-256 over the files sorted by path, each as path, NUL, byte length, NUL, bytes.',
  ],
  ['SKL-026', 'docs/deployment-file-reference.md#skills', 'A NUL byte in a skill file answers 400 `binary_file`.'],
  [
    'SKL-027',
    'docs/deployment-file-reference.md#skills',
    '201 files, or a path that is absolute, climbs with `..` or is empty, answer 400 `invalid_skill`.',
  ],
  ['SKL-028', 'docs/deployment-file-reference.md#skills', 'Putting the same files again creates no version.'],
  ['SKL-029', 'docs/api/skills.md#put-v1skillsskill_id', '`file_too_large` has status 400 for a file in a skill.'],
  ['SKL-030', 'docs/api/skills.md#delete-v1skillsskill_id', 'An unknown skill answers 404 `skill_not_found`.'],
  [
    'SKL-031',
    'docs/deployment-file-reference.md#skills',
    '`GET /v1/skills/{name}` reads a built-in skill with its files.',
  ],
  [
    'SKL-121',
    'docs/versions.md#deleting',
    'Deleting a skill that a live version uses with a test key answers 409 `skill_live`.',
  ],
  [
    'SKL-122',
    'docs/versions.md#deleting',
    'A skill deleted with a live key is gone: live traffic continues without it, and versions that used it list it as `missing`.',
  ],
  [
    'SKL-123',
    'docs/deployment-file-reference.md#skills',
    'Local skills of one name in two deployments are two skills.',
  ],
  [
    'SKL-124',
    'docs/computer.md#rules',
    'A skill that was deleted, renamed or changed is gone from every computer at its next use; what a person made there stays.',
  ],
  [
    'SKL-125',
    'docs/deployment-file-reference.md#skills',
    'Built-in skills make and read DOCX, XLSX, PPTX, PDF and charts and fill PDF forms on a computer, or say which package is missing.',
  ],
]);
