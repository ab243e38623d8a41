import { z } from 'zod';
import { contentChangeQuery } from './content-change.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shortSlug } from './slug.ts';
import { text } from './text.ts';
import { time } from './time.ts';

const sources = ['company', 'built_in'] as const;

const skill = z.object({
  object: z.literal('skill'),
  /** Null for a built-in skill, as are `version` and `sha256`. */
  id: id('skl').nullable(),
  source: z.enum(sources),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string().nullable(),
  sha256: z.string().nullable(),
  created_at: time.nullable(),
  updated_at: time.nullable(),
});

const skillVersion = z.object({
  object: z.literal('skill_version'),
  hash: z.string(),
  parent_hash: z.string().nullable(),
  created_at: time,
});

const bundle = z.strictObject({
  files: failsWith(
    'invalid_skill',
    z
      .array(
        z.strictObject({
          path: text(1, 200).regex(
            /^(?!.*(^|\/)\.{0,2}(\/|$))[^\\\p{Cc}]+$/su,
            'A path is relative, with forward slashes and no empty, `.` or `..` part.',
          ),
          // Its size counts in UTF-8 bytes and has a code of its own, so the length is only shown here.
          content: z.string().meta({ maxLength: 1_048_576 }),
        }),
      )
      .min(1, 'Send at least one file.')
      .max(200, 'At most 200 files.'),
  ),
});

const skillParams = z.strictObject({ skill_id: failsWith('skill_not_found', id('skl')) });

/** A built-in skill has no id and is read by its name. */
const readableParams = z.strictObject({
  skill_id: failsWith('skill_not_found', z.union([id('skl'), z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/)])),
});

const upload = {
  accepts: ['application/json', 'application/zip', 'multipart/form-data'],
  bodyLimit: 8 * 1024 * 1024,
  body: bundle,
  nulText: 'handler',
  errors: [
    'slug_taken',
    'binary_file',
    'bundle_too_large',
    'duplicate_path',
    'file_required',
    'file_too_large',
    'invalid_frontmatter',
    'invalid_skill',
    'invalid_zip',
  ],
} as const;

export const skills = {
  list: route({
    method: 'GET',
    path: '/v1/skills',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the org’s skills, or the built-in ones.',
    query: z.strictObject({ ...pageQuery, source: z.enum(sources).default('company') }),
    status: 200,
    response: page(skill),
    errors: [],
    command: 'skills list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/skills',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Upload a skill: its files as JSON, a zip, or one multipart part `file` that is a zip.',
    idempotent: true,
    /** Absent: the name in SKILL.md. With a slug of its own a skill may have a name that another one has. */
    query: z.strictObject({ slug: shortSlug.optional() }),
    ...upload,
    status: 201,
    response: skill,
    command: 'skills create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/skills/{skill_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one skill with its files: the org’s by its id, a built-in one by its name.',
    params: readableParams,
    status: 200,
    response: skill.extend({
      files: z.array(z.object({ path: z.string(), bytes: z.int().min(0), content: z.string() })),
    }),
    errors: [],
    command: 'skills get',
  }),
  replace: route({
    method: 'PUT',
    path: '/v1/skills/{skill_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Replace a skill’s files; files that differ make a new version.',
    params: skillParams,
    query: z.strictObject(contentChangeQuery),
    ...upload,
    status: 200,
    response: skill,
    command: 'skills replace',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/skills/{skill_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a skill; it goes from every user.',
    params: skillParams,
    status: 200,
    response: deleted('skill'),
    errors: ['skill_live'],
    command: 'skills delete',
  }),
  versions: route({
    method: 'GET',
    path: '/v1/skills/{skill_id}/versions',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the versions of a skill, newest first.',
    params: skillParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(skillVersion),
    errors: [],
    command: 'skills versions',
  }),
};
