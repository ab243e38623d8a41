/**
 * The rules for the files of a skill, as data: the service, the SDK and the Python client check by the same table.
 * Patterns are read by JavaScript and Python, so they use only what both understand.
 */
export const skillLimits = {
  files: 200,
  fileBytes: 1_048_576,
  bundleBytes: 5 * 1_048_576,
  pathCharacters: 200,
  /** In UTF-16 units. The parser takes quadratic time in the number of fields: 80 ms at this length. */
  frontmatterLength: 8192,
};

/** `text`: a text; `values`: names with single values; `words`: a text or a list of texts. */
type FieldKind = 'text' | 'values' | 'words';

/** A field of the frontmatter. Fields that no rule names are allowed. */
type FieldRule = {
  field: string;
  isRequired: boolean;
  kind: FieldKind;
  /** The most characters of a text, which then has at least one. */
  most: number | null;
  /** Spaces around the text do not count. */
  isTrimmed: boolean;
  /** The whole text matches it. */
  pattern: string | null;
  /** Said of a value that is not of this form. */
  message: string;
};

const text = { isRequired: false, kind: 'text', most: null, isTrimmed: false, pattern: null, message: '' } as const;

/** Frontmatter fields of the open Agent Skills format. */
export const skillFields: readonly FieldRule[] = [
  {
    ...text,
    field: 'name',
    isRequired: true,
    most: 64,
    pattern: '[a-z0-9]+(-[a-z0-9]+)*',
    message: '`name` is 1 to 64 lowercase letters, digits and single hyphens, with no hyphen at its ends.',
  },
  {
    ...text,
    field: 'description',
    isRequired: true,
    most: 1024,
    isTrimmed: true,
    message: '`description` is 1 to 1024 characters.',
  },
  { ...text, field: 'license' },
  { ...text, field: 'compatibility', most: 500, message: '`compatibility` is 1 to 500 characters.' },
  { ...text, field: 'metadata', kind: 'values', message: '`metadata` maps names to single values.' },
  { ...text, field: 'allowed-tools', kind: 'words', message: '`allowed-tools` is a text or a list.' },
];

/** A path that matches one of the patterns is refused: it could leave the folder that the skill is copied to. */
export const skillPathRules: readonly { pattern: string; why: string }[] = [
  { pattern: '[\\\\\\x00-\\x1f\\x7f-\\x9f]', why: 'has a backslash or a control character' },
  { pattern: '^(/|[A-Za-z]:)', why: 'is not relative' },
  { pattern: '(^|/)\\.{0,2}(/|$)', why: 'has an empty, `.` or `..` part' },
];

export const skillMessages = {
  noFrontmatter: 'it must open with YAML frontmatter between two lines of `---`.',
  longFrontmatter: `its frontmatter is longer than ${skillLimits.frontmatterLength} characters.`,
  noFields: 'the frontmatter must be lines of `name: value`.',
  notYaml: 'its frontmatter is not plain YAML:',
  alias: 'it uses an alias: write the value instead.',
  tooDeep: 'it is nested too deeply: write one line of `name: value` for each field.',
  tooManyFiles: `A skill may hold at most ${skillLimits.files} files.`,
  largeFile: `is larger than the ${skillLimits.fileBytes} bytes that a file of a skill may have`,
  largeBundle: `The files are larger than the ${skillLimits.bundleBytes} bytes that a skill may have together.`,
  longPath: `has more than the ${skillLimits.pathCharacters} characters that a path may have`,
  samePath: 'is there twice, where upper and lower case count as the same',
  folderIsFile: 'needs a folder where another path is a file',
};

/** The fault of a field of the frontmatter; null if there is none. An absent field is undefined. */
export function faultOfSkillField(rule: FieldRule, value: unknown): string | null {
  if (value === undefined) return rule.isRequired ? `\`${rule.field}\` is missing.` : null;
  if (rule.kind === 'values') return isValues(value) ? null : rule.message;
  if (rule.kind === 'words') return isWords(value) ? null : rule.message;
  if (typeof value !== 'string') return `\`${rule.field}\` must be text: put it in quotes.`;
  const counted = rule.isTrimmed ? value.trim() : value;
  if (rule.most !== null && !hasCharacters(counted, rule.most)) return rule.message;
  return rule.pattern === null || new RegExp(`^(?:${rule.pattern})$`).test(counted) ? null : rule.message;
}

/** Why a path is refused; null if it is accepted. */
export const faultOfSkillPath = (path: string): string | null =>
  leavesSkill(path) ?? ([...path].length > skillLimits.pathCharacters ? skillMessages.longPath : null);

/** Why the path may leave a folder that it is joined to; null if it stays inside. */
export const leavesSkill = (path: string): string | null =>
  skillPathRules.find(({ pattern }) => new RegExp(pattern).test(path))?.why ?? null;

/**
 * Paths that differ only in case are one file on many systems, and no path is both a file and a folder. `at` is the
 * place of the path in the list.
 */
export function skillPathClashes(paths: readonly string[]): { at: number; isSame: boolean }[] {
  const firstOf = new Map<string, number>();
  for (const [at, path] of paths.entries()) {
    const folded = path.toLowerCase();
    if (!firstOf.has(folded)) firstOf.set(folded, at);
  }
  return paths.flatMap((path, at) => {
    const folded = path.toLowerCase();
    const names = folded.split('/');
    const folders = names.slice(1).map((_, end) => names.slice(0, end + 1).join('/'));
    return [
      ...(firstOf.get(folded) === at ? [] : [{ at, isSame: true }]),
      ...(folders.some((folder) => firstOf.has(folder)) ? [{ at, isSame: false }] : []),
    ];
  });
}

/** The frontmatter without its fences; null if there is none. Only a bare `---` opens it: some readers execute `---js`. */
export function frontmatterOf(main: string): string | null {
  const [first = '', ...rest] = main.replace(/^\uFEFF/, '').split(/\r?\n/, 10_000);
  if (first.trimEnd() !== '---') return null;
  const end = rest.findIndex((line) => line.trimEnd() === '---');
  return end === -1 ? null : rest.slice(0, end).join('\n');
}

const hasCharacters = (value: string, most: number) =>
  value.length >= 1 && value.length <= most * 2 && [...value].length <= most;

const isValues = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isSingle);

const isSingle = (value: unknown) => typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);

const isWords = (value: unknown) =>
  typeof value === 'string' || (Array.isArray(value) && value.every((word) => typeof word === 'string'));
