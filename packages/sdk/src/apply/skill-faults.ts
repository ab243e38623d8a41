import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml';

/**
 * The service's rules for a skill, checked before anything is sent: a plan reports a broken skill with its file and
 * line. The service decides when the skill is uploaded.
 */
const skillLimits = { files: 200, fileBytes: 1_048_576, bundleBytes: 5 * 1_048_576, path: 200, head: 8192 };

type SkillFault = { path: string | null; at: { line: number; column: number } | null; message: string };

export function faultsOfSkill(files: readonly { path: string; content: string }[]): SkillFault[] {
  const main = files.find(({ path }) => path === 'SKILL.md')?.content ?? '';
  return [...faultsOfFiles(files), ...faultsOfMain(main)];
}

function faultsOfFiles(files: readonly { path: string; content: string }[]): SkillFault[] {
  const faults: SkillFault[] = [];
  const whole = (message: string) => faults.push({ path: null, at: null, message });
  if (files.length > skillLimits.files) whole(`A skill can have at most ${skillLimits.files} files.`);
  const taken = new Set<string>();
  let total = 0;
  for (const { path, content } of files) {
    const bytes = new TextEncoder().encode(content).byteLength;
    total += bytes;
    const fault = (message: string) => faults.push({ path, at: null, message });
    if (bytes > skillLimits.fileBytes) fault(`A file of a skill may have ${skillLimits.fileBytes} bytes.`);
    if ([...path].length > skillLimits.path) fault(`A path in a skill may have ${skillLimits.path} characters.`);
    if (taken.has(path.toLowerCase())) fault('Another file has this path, if upper and lower case count as the same.');
    taken.add(path.toLowerCase());
  }
  if (total > skillLimits.bundleBytes) whole(`The files may have ${skillLimits.bundleBytes} bytes together.`);
  return faults;
}

function faultsOfMain(main: string): SkillFault[] {
  const fault = (message: string, at = { line: 1, column: 1 }): SkillFault => ({ path: 'SKILL.md', at, message });
  const head = headOf(main);
  if (head === null) {
    return [fault('The file must start with YAML frontmatter between two lines of `---` that has a `name`.')];
  }
  if (head.length > skillLimits.head) return [fault(`The frontmatter is longer than ${skillLimits.head} characters.`)];
  const lines = new LineCounter();
  const document = parseDocument(head, { schema: 'core', stringKeys: true, prettyErrors: false, lineCounter: lines });
  // The frontmatter begins in the second line.
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: line + 1, column: col };
  };
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    return broken.map(({ message, pos }) => fault(`The frontmatter is not plain YAML: ${message}`, placeOf(pos[0])));
  }
  if (!isMap(document.contents)) return [fault('The frontmatter must be lines of `name: value`.')];
  return rules.flatMap(([field, isRequired, check]) => {
    const { value, offset } = fieldOf(document, field);
    if (value === undefined) return isRequired ? [fault(`\`${field}\` is missing.`)] : [];
    const message = typeof value === 'string' ? check(value) : `\`${field}\` must be text: put it in quotes.`;
    return message === null ? [] : [fault(message, placeOf(offset))];
  });
}

/** Only a bare `---` opens the frontmatter. */
export function headOf(main: string): string | null {
  const [first = '', ...rest] = main.replace(/^\uFEFF/, '').split(/\r?\n/, 10_000);
  if (first.trimEnd() !== '---') return null;
  const end = rest.findIndex((line) => line.trimEnd() === '---');
  return end === -1 ? null : rest.slice(0, end).join('\n');
}

function fieldOf(document: Document.Parsed, field: string): { value: unknown; offset: number } {
  const pair = isMap(document.contents)
    ? document.contents.items.find(({ key }) => isScalar(key) && key.value === field)
    : undefined;
  if (!pair) return { value: undefined, offset: 0 };
  const value = isScalar(pair.value) ? pair.value.value : pair.value;
  return { value: value ?? null, offset: (pair.key as { range?: [number, number, number] }).range?.[0] ?? 0 };
}

const between = (field: string, most: number) => (value: string) => {
  const { length } = [...value.trim()];
  return length >= 1 && length <= most ? null : `\`${field}\` is 1 to ${most} characters.`;
};

const rules: readonly [field: string, isRequired: boolean, check: (value: string) => string | null][] = [
  [
    'name',
    true,
    (value) =>
      /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/.test(value)
        ? null
        : '`name` is 1 to 64 lowercase letters, digits and single hyphens, with no hyphen at its ends.',
  ],
  ['description', true, between('description', 1024)],
  ['license', false, () => null],
  ['compatibility', false, between('compatibility', 500)],
];
