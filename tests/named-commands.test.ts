import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '@vestra/cli/program';
import { keptTerminal } from '@vestra/cli/terminal.fixture';
import { operatorCommands } from '@vestra/contract/operator-commands';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const sources = globSync(
  ['README.md', 'docs/*.md', 'docs/design/*.md', 'examples/**/*.{md,yaml,js}', 'packages/*/README.md'],
  {
    cwd: root,
  },
).filter((file) => !file.endsWith('changelog.md'));
const remedies = ['packages/contract/src/error-remedies.ts', 'packages/contract/src/errors.ts'];

const names = new Set(buildProgram(keptTerminal({ cwd: root, env: {} }).terminal).names);
const groups = new Set([...names].flatMap((name) => (name.includes(' ') ? [name.split(' ')[0]] : [])));

/** The words that are no command, or null. */
function faultOf(text: string): string | null {
  const words = text.split(/\s+/);
  const isWord = (word: string | undefined) => /^[a-z][a-z-]*$/.test(word ?? '');
  const [first = '', second] = words;
  if (!isWord(first) || first === 'help') return null;
  if (first === 'admin') return operatorFault(words.slice(1).filter(isWord));
  if (groups.has(first) && isWord(second) && names.has(`${first} ${second}`)) return null;
  if (groups.has(first) && isWord(second) && !names.has(first)) return `${first} ${second}`;
  return names.has(first) || groups.has(first) ? null : first;
}

const operatorFault = (words: readonly string[]) => {
  const text = words.join(' ');
  return Object.keys(operatorCommands).some(
    (name) => text === '' || `${name} `.startsWith(`${text} `) || `${text} `.startsWith(`${name} `),
  )
    ? null
    : `admin ${text}`;
};

it('finds a command that does not exist', () => {
  expect(
    [
      'secrets put NAME',
      'aplly',
      'admin org creat',
      'secrets set NAME',
      'apply agent',
      'admin credit --usd 1',
      'insights',
    ].map(faultOf),
  ).toEqual(['secrets put', 'aplly', 'admin org creat', null, null, null, null]);
});

it.each([...sources, ...remedies])('%s names commands that exist [GUIDE-012]', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const named = [...text.matchAll(/`(?:npx )?vestra ([^`\n]+)`|^\s*(?:\$ |# )?(?:npx )?vestra ([a-z].*)$/gm)].map(
    ([, quoted, typed]) => quoted ?? typed ?? '',
  );
  expect(named.filter((each) => faultOf(each) !== null)).toEqual([]);
});

describe('a sentence that a page quotes', () => {
  /** Everything that the product may print, as one line. */
  const said = globSync('{packages,scripts,deploy}/**/*.{ts,tsx,json,yaml}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/*.test.ts', '**/dist/**'],
  })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
    .replace(/\s+/g, ' ');
  const quotedIn = (text: string) =>
    [...text.replace(/^```.*?^```/gms, '').matchAll(/`([a-z]+(?:[ ,;:]+[a-z]+){3,})`/g)].map(
      ([, quoted = '']) => quoted,
    );
  const isSaid = (quoted: string) => said.includes(quoted) || /^(npx )?vestra |^(npm|docker|apt|sudo) /.test(quoted);

  it('is found', () => {
    expect(quotedIn('The log says `the database is away` and `the event loop is blocked`.').map(isSaid)).toEqual([
      false,
      true,
    ]);
  });

  it.each(sources.filter((file) => file.startsWith('docs/')))('is one of the product in %s [GUIDE-018]', (file) => {
    expect(quotedIn(readFileSync(join(root, file), 'utf8')).filter((quoted) => !isSaid(quoted))).toEqual([]);
  });
});
