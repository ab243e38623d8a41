/** Converts the contract's names to Python. */

const keywords = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

export const isIdentifier = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);

export const isKeyword = (name: string): boolean => keywords.has(name);

/** The name of a parameter or attribute: `from` is a keyword and becomes `from_`. */
export const safe = (name: string): string => (isKeyword(name) ? `${name}_` : name);

/** `listVersions` → `list_versions` */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `test_run.completed`, `testRuns` → `TestRunCompleted`, `TestRuns` */
export const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** The singular: `results` → `result`, `entries` → `entry`, `process` stays. */
export function singular(name: string): string {
  if (/cookies$/i.test(name)) return name.slice(0, -1);
  if (/ies$/.test(name)) return name.replace(/ies$/, 'y');
  if (/(ch|sh|x)es$/.test(name)) return name.replace(/es$/, '');
  return /[^s]s$/.test(name) ? name.slice(0, -1) : name;
}

export const quoted = (text: string): string => JSON.stringify(text);

/** The lines of a docstring, wrapped. A backslash or three quotes in a description must not end it early. */
export function docstring(paragraphs: readonly string[], indent: string): string[] {
  const told = paragraphs
    .filter((each) => each !== '')
    .map((each) => each.replaceAll('\\', '\\\\').replaceAll('"""', "'''"));
  if (told.length === 0) return [];
  const wrapped = told.map((paragraph) =>
    paragraph.split('\n').flatMap((line) => wrap(line, 100 - indent.length, /^ */.exec(line)?.[0] ?? '')),
  );
  const [only] = wrapped;
  if (wrapped.length === 1 && only?.length === 1) return [`${indent}"""${endable(only[0] as string)}"""`];
  const lines = wrapped.flatMap((paragraph, index) => (index === 0 ? paragraph : ['', ...paragraph]));
  return [
    `${indent}"""${lines[0]}`,
    ...lines.slice(1).map((line) => (line === '' ? '' : `${indent}${line}`)),
    `${indent}"""`,
  ];
}

/** A quote directly before the closing three would be a fourth. */
const endable = (text: string) => (text.endsWith('"') ? `${text} ` : text);

function wrap(line: string, width: number, lead: string): string[] {
  const lines: string[] = [];
  let current = lead;
  for (const word of line.trim().split(/ +/)) {
    if (current.trim() !== '' && `${current} ${word}`.length > width) {
      lines.push(current);
      // Continuation lines of a list entry are indented under its text.
      current = lead === '' ? word : `${lead}    ${word}`;
    } else current = current.trim() === '' ? `${current}${word}` : `${current} ${word}`;
  }
  return [...lines, current];
}
