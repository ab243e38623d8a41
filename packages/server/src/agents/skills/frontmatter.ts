import { fail } from '@vestra/contract/errors';
import { parseDocument } from 'yaml';
import { z } from 'zod';

export type Frontmatter = { name: string; description: string };

/**
 * In characters. The parser takes quadratic time in the number of fields: 80 ms at this length, 1.6 s at four times it.
 */
const maxLength = 8192;

/** Frontmatter fields of the open Agent Skills format. Fields of other programs are allowed. */
const fields = z.object(
  {
    name: words('name').regex(
      /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/,
      '`name` is 1 to 64 lowercase letters, digits and single hyphens, with no hyphen at its ends.',
    ),
    description: words('description').trim().refine(hasCharacters(1, 1024), '`description` is 1 to 1024 characters.'),
    license: words('license').optional(),
    compatibility: words('compatibility')
      .refine(hasCharacters(1, 500), '`compatibility` is 1 to 500 characters.')
      .optional(),
    metadata: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()], '`metadata` maps names to single values.'), {
        error: '`metadata` maps names to single values.',
      })
      .optional(),
    'allowed-tools': z.union([z.string(), z.array(z.string())], '`allowed-tools` is a text or a list.').optional(),
  },
  'the frontmatter must be lines of `name: value`.',
);

/** `param` is the request field of the file. */
export function readFrontmatter(file: string, param: string): Frontmatter {
  const refuse = (reason: string) => fail('invalid_frontmatter', { param, message: `\`SKILL.md\`: ${reason}` });
  const head = headOf(file);
  if (head === null) throw refuse('it must start with YAML frontmatter between two lines of `---`.');
  if (head.length > maxLength) throw refuse(`its frontmatter is longer than ${maxLength} characters.`);
  const parsed = parseYaml(head);
  if ('fault' in parsed) throw refuse(`its frontmatter is not plain YAML: ${parsed.fault}`);
  const checked = fields.safeParse(parsed.value);
  if (!checked.success) throw refuse(checked.error.issues[0]?.message ?? '');
  const { name, description } = checked.data;
  return { name, description };
}

/** Only a bare `---` opens the frontmatter: some readers execute `---js`. */
function headOf(file: string): string | null {
  const [first = '', ...rest] = file.replace(/^\uFEFF/, '').split(/\r?\n/, 10_000);
  if (first.trimEnd() !== '---') return null;
  const end = rest.findIndex((line) => line.trimEnd() === '---');
  return end === -1 ? null : rest.slice(0, end).join('\n');
}

function parseYaml(head: string): { value: unknown } | { fault: string } {
  try {
    const document = parseDocument(head, { schema: 'core', stringKeys: true, prettyErrors: false });
    // The library only warns about an unknown tag and then ignores it, so warnings are errors here.
    const [fault] = [...document.errors, ...document.warnings];
    if (fault) return { fault: fault.message };
    // Aliases are refused: they can expand a short text to gigabytes.
    return { value: document.toJS({ maxAliasCount: 0 }) };
  } catch (error) {
    return { fault: error instanceof ReferenceError ? 'it uses an alias.' : 'it is nested too deeply.' };
  }
}

function words(field: string) {
  return z.string({
    error: ({ input }) =>
      input === undefined ? `\`${field}\` is missing.` : `\`${field}\` must be text: put it in quotes.`,
  });
}

function hasCharacters(least: number, most: number) {
  return (text: string) => text.length <= most * 2 && text.length >= least && [...text].length <= most;
}
