import { z } from 'zod';
import { tag } from './tag.ts';

/** Accepted values of a file that have no effect, or another one than intended. */
export const fileWarnings = z.array(
  z.object({
    param: z.string().describe('The dotted path of the field in the file.'),
    message: z.string().describe('The possible problem, in a sentence.'),
  }),
);

/** The keys of a file whose local content a client uploads before it applies the file. */
export const uploadKeys = ['skills', 'knowledge', 'computer'] as const;

export const plan = z
  .object({
    object: tag('plan'),
    changed: z
      .array(
        z.object({
          path: z
            .string()
            .describe('The field of the file. An entry of a list has its name in brackets: `tests["Greets"].expect`.'),
          before: z.unknown().describe('The value in the newest version; null if the field is new.'),
          after: z.unknown().describe('The value in the file; null if the field is removed.'),
        }),
      )
      .describe('Every field that would change. Secrets are shown as references, never as values.'),
    faults: z
      .array(
        z.object({
          code: z.string().describe('The error code.'),
          param: z.string().describe('The dotted path of the field in the file; empty for the file as a whole.'),
          message: z.string().describe('The fault, in a sentence.'),
        }),
      )
      .describe('Every reason why the file would be rejected; empty if it would be applied.'),
    missing_secrets: z
      .array(z.string())
      .describe('Names of the secrets that the file needs and that are not stored in the mode of the key.'),
    warnings: fileWarnings.describe('Accepted values that may not be intended, and lines that have no effect.'),
    creates_version: z.boolean().describe('Whether a version would be saved.'),
    promotes: z
      .boolean()
      .describe('Whether the mode of the key would run another version, at once or after its tests pass.'),
    tests_to_run: z.array(z.string()).describe('The names of the tests that would run before the promotion.'),
  })
  .describe('The effect of applying a deployment file. Nothing was written.');
