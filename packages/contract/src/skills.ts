import { z } from 'zod';
import { contentChangeQuery } from './content-change.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shortSlug } from './slug.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time } from './time.ts';

const sources = ['company', 'built_in'] as const;

const skill = z
  .object({
    object: tag('skill'),
    id: id('skl').nullable().describe('`skl_` and 24 characters; null for a built-in skill.'),
    source: z.enum(sources).describe('`company`: the org uploaded it; `built_in`: it is part of the service.'),
    slug: z.string().describe('Its name in a deployment.'),
    name: z.string().describe('The name in its `SKILL.md`.'),
    description: z.string().describe('When to use it, from its `SKILL.md`: the agent decides by this.'),
    version: z.string().nullable().describe('The content hash of its current version; null for a built-in skill.'),
    sha256: z
      .string()
      .nullable()
      .describe('The hash of the uploaded files, as the CLI computes it for a folder; null for a built-in skill.'),
    created_at: time.nullable().describe('When it was first uploaded; null for a built-in skill.'),
    updated_at: time.nullable().describe('When its files last changed; null for a built-in skill.'),
  })
  .describe('A bundle of text files that teaches the agent how to do something.');

const skillVersion = z
  .object({
    object: tag('skill_version'),
    hash: z.string().describe('The hash of the files of this version.'),
    parent_hash: z.string().nullable().describe('The hash of the previous version; null for the first.'),
    created_at: createdAt,
  })
  .describe('One state of a skill’s files.');

const bundle = z.strictObject({
  files: failsWith(
    'invalid_skill',
    z
      .array(
        z.strictObject({
          path: text(1, 200)
            .regex(
              /^(?!.*(^|\/)\.{0,2}(\/|$))[^\\\p{Cc}]+$/su,
              'A path is relative, with forward slashes and no empty, `.` or `..` part.',
            )
            .describe('Its path in the skill, with forward slashes, such as `scripts/count.py`.'),
          // The size is checked in UTF-8 bytes with a separate code; the length here is documentation.
          content: z.string().meta({ maxLength: 1_048_576 }).describe('Its text, at most 1 MB.'),
        }),
      )
      .min(1, 'Send at least one file.')
      .max(200, 'At most 200 files.'),
  ).describe('1 to 200 text files of at most 5 MB together, including a `SKILL.md` at the top.'),
});

const skillParams = z.strictObject({
  skill_id: failsWith('skill_not_found', id('skl')).describe('The id of a skill of the org, `skl_` and 24 characters.'),
});

/** A built-in skill has no id and is read by its name. */
const readableParams = z.strictObject({
  skill_id: failsWith('skill_not_found', z.union([id('skl'), z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/)])).describe(
    'The id of a skill of the org, or the name of a built-in one.',
  ),
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
    description: 'Needs scope `setup`; newest first, without files.',
    query: z.strictObject({
      ...pageQuery,
      source: z
        .enum(sources)
        .default('company')
        .describe('`company`: the org’s own; `built_in`: those of the service.'),
    }),
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
    summary: 'Upload a skill: its files as JSON, a zip, or one multipart part `file` with a zip.',
    description:
      'The frontmatter of `SKILL.md` sets `name` and `description`. Use its id in `skills` of a deployment; text files only.',
    idempotent: true,
    query: z.strictObject({
      slug: shortSlug
        .optional()
        .describe(
          'Its name in deployments; absent: the name in `SKILL.md`. With a separate slug it may share that name with another skill.',
        ),
    }),
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
    description: 'Built-in skills can be read to copy from.',
    params: readableParams,
    status: 200,
    response: skill.extend({
      files: z
        .array(
          z.object({
            path: z.string().describe('Its path in the skill.'),
            bytes: z.int().min(0).describe('Its size in bytes.'),
            content: z.string().describe('The text of the file.'),
          }),
        )
        .describe('All its files with their text.'),
    }),
    errors: [],
    command: 'skills get',
  }),
  replace: route({
    method: 'PUT',
    path: '/v1/skills/{skill_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Replace a skill’s files; changed files create a new version.',
    description:
      'Send all files, not only the changed ones. With a test key live users see it after the next promotion.',
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
    summary: 'Delete a skill for every user.',
    description: 'Versions that use it can no longer run. One that is live needs a live key (409 `skill_live`).',
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
    description: 'Each names the previous one, so that the history can be followed.',
    params: skillParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(skillVersion),
    errors: [],
    command: 'skills versions',
  }),
};
