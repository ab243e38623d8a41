import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { recordOfAtMost } from './record-of-at-most.ts';
import { companySecretReference } from './secret-reference.ts';
import { text } from './text.ts';

/** `<host>/<owner>/<repo>` or its URL. A host is a dotted name or, for development, localhost. */
const repoAddress = failsWith(
  'invalid_repo',
  text(1, 2048).regex(
    /^(https?:\/\/)?(localhost|[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+)(:[0-9]{1,5})?(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._-]+){2}\/?$/,
    'Write the repository as host/owner/repo or as its https URL.',
  ),
);

const repo = z.union(
  [
    repoAddress,
    z.strictObject({
      url: repoAddress.describe('The repository as `host/owner/repo`, or its https address.'),
      // git would read a ref that begins with a dash as an option.
      ref: text(1, 200)
        .regex(/^[^-\s]\S*$/, 'A ref begins with no dash and holds no spaces.')
        .optional()
        .describe('Branch, tag or commit; absent: `main`.'),
      path: text(1, 200).optional().describe('The folder it is cloned into; absent: the name of the repository.'),
      token: companySecretReference
        .optional()
        .describe('A secret of the company such as `${GIT_TOKEN}` that may read it, never the value itself.'),
    }),
  ],
  { error: 'Write the repository as text, or as an object with `url`.' },
);

const environmentVariables = recordOfAtMost(
  200,
  'variables',
  z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), text(0, 8192), {
    error: (issue) =>
      issue.code === 'invalid_key'
        ? 'A variable name is a letter or underscore, then letters, digits, underscores, at most 128.'
        : undefined,
  }),
);

const filePath = text(1, 200).describe('The path of the file, relative to the home folder.');

const fixedContent = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'A hash has 64 hexadecimal digits.')
  .optional()
  .describe('The hash of the content that the version fixes; shown, and ignored in requests.');

/** The agent's computer, prepared before the first task; `environment` in a manifest. */
export const computer = z
  .strictObject({
    setup: text(0, 20_000)
      .optional()
      .describe(
        'A shell script that runs once on each computer; the CLI and the SDK also accept the name of a local file.',
      ),
    repos: z
      .array(repo)
      .max(10, 'At most 10 repositories.')
      .default([])
      .describe('Git repositories that are cloned before the first task, at most 10.'),
    env: environmentVariables
      .default({})
      .describe('Environment variables of the computer; a credential is written `${NAME}`.'),
    files: z
      .array(
        z.strictObject({
          file_id: id('file').describe('An uploaded file. The version copies its content, for both modes.'),
          path: filePath,
          sha256: fixedContent,
        }),
      )
      .max(50, 'At most 50 files.')
      .default([])
      .describe('Uploaded files that are copied there, at most 50.'),
  })
  .describe('The agent’s computer, prepared before its first task.');

/** `computer` of a deployment file, whose files may be local ones. */
export const fileComputer = computer.extend({
  files: z
    .array(
      z
        .strictObject({
          file_id: id('file').optional().describe('An uploaded file. The version copies its content, for both modes.'),
          from: text(1, 500)
            .optional()
            .describe('Instead of `file_id`: a local file below the folder, which the CLI and the SDK upload.'),
          path: filePath,
          sha256: fixedContent,
        })
        .refine(({ file_id, from }) => file_id !== undefined || from !== undefined, {
          path: ['file_id'],
          message: 'Write `file_id` for an uploaded file or `from` for a local one.',
        })
        .refine(({ file_id, from }) => file_id === undefined || from === undefined, {
          path: ['from'],
          message: 'Write `file_id` or `from`, not both.',
        }),
    )
    .max(50, 'At most 50 files.')
    .default([])
    .describe('Files that are copied there, at most 50.'),
});
