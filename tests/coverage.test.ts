import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAst } from 'vitest/node';
import { anchorsOf, parseMarkdown } from '../packages/web/src/guide/markdown.ts';
import { type Area, area } from './requirement.ts';
import { areas } from './requirements.ts';

const root = join(import.meta.dirname, '..');

describe('coverage of the requirements', () => {
  const citations = testFiles().flatMap((file) =>
    citationsIn(readFileSync(join(root, file), 'utf8'), file.endsWith('x') ? 'tsx' : 'ts').map((id) => ({ id, file })),
  );
  const coverage = coverageOf(areas, new Set(citations.map(({ id }) => id)));

  it('has a test for every row of every finished area', () => {
    console.log(tableOf(coverage));
    expect(missingIn(coverage)).toEqual([]);
  });

  it('is cited with ids that exist', () => {
    const known = idsOfAll(areas);
    expect(citations.filter(({ id }) => !known.has(id)).map(({ id, file }) => `${file} cites ${id}`)).toEqual([]);
  });
});

describe('the rows', () => {
  const rows = areas.flatMap(({ requirements }) => requirements);

  it('have unique ids', () => {
    const ids = rows.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('have ids of one prefix per area, which no other area has', () => {
    const prefixes = areas.map(({ name, requirements }) => {
      const found = new Set(requirements.map(({ id }) => /^([A-Z][A-Z0-9]*)-\d{3}$/.exec(id)?.[1] ?? `bad id ${id}`));
      expect([...found], name).toHaveLength(1);
      return [...found][0];
    });
    expect(prefixes.filter((prefix) => prefix?.startsWith('bad'))).toEqual([]);
    expect(new Set(prefixes).size).toBe(areas.length);
  });

  it('cite a page of docs/ and, after #, a heading of it', () => {
    const anchors = new Map(globSync('docs/{,api/}*.md', { cwd: root }).map((page) => [page, anchorsIn(page)]));
    const dead = rows.filter(({ source }) => {
      const [page = '', anchor] = source.split('#');
      return !anchors.has(page) || (anchor !== undefined && !anchors.get(page)?.has(anchor));
    });
    expect(dead.map(({ id, source }) => `${id} cites ${source}`)).toEqual([]);
  });

  it('end as a sentence', () => {
    expect(rows.filter(({ text }) => !/[."]$/.test(text))).toEqual([]);
  });
});

describe('the verdict', () => {
  const rows = [
    ['ONE-001', 'docs/requests.md#errors', 'A first.'],
    ['ONE-002', 'docs/requests.md#errors', 'A second.'],
  ] as const;

  it('lists the uncited rows of a finished area', () => {
    const coverage = coverageOf([area('one', 'done', rows)], new Set(['ONE-001']));
    expect(missingIn(coverage)).toEqual(['ONE-002 (docs/requests.md#errors): A second.']);
  });

  it('lets an open area have uncited rows, and counts them', () => {
    const coverage = coverageOf([area('one', 'open', rows)], new Set(['ONE-001', 'TWO-001']));
    expect(missingIn(coverage)).toEqual([]);
    expect(tableOf(coverage)).toMatch(/one +open +1 +2\n/);
    expect(tableOf(coverage)).toMatch(/all +1 +2$/);
  });
});

describe('the scanner', () => {
  it.each([
    ['a plain title', `it('refuses [LIST-004]', () => {});`, ['LIST-004']],
    ['several ids', `test('refuses [LIST-004, LIST-005]', () => {});`, ['LIST-004', 'LIST-005']],
    ['several brackets', `test('refuses [LIST-004] and [KEY-001]', () => {});`, ['LIST-004', 'KEY-001']],
    ['a describe and what it holds', `describe('a [A-001]', () => { it('b [A-002]', f); });`, ['A-001', 'A-002']],
    ['a table of cases', `it.each([['x', 1]])('%s [A-001]', (name: string) => {});`, ['A-001']],
    ['a tagged table', 'it.each`a\n${1}`("$a [A-001]", () => {});', ['A-001']],
    ['a property', `test.prop([fc.string()])('holds [A-001]', (text) => text === text);`, ['A-001']],
    [
      'a conditional test',
      `it.skipIf(slow)('runs [A-001]', f); it.runIf(fast)('runs [A-002]', f);`,
      ['A-001', 'A-002'],
    ],
    ['modifiers', `it.concurrent.only('x [A-001]', f); describe.sequential('y [A-002]', f);`, ['A-001', 'A-002']],
    ['a template around a value', 'it(`x ${name} [A-001]`, f);', ['A-001']],
    ['a title in two halves', `it('x ' + '[A-001]', f);`, ['A-001']],
    ['a test in a loop', `for (const a of all) { it(\`\${a} [A-001]\`, f); }`, ['A-001']],
    ['a typed test file', `it('x [A-001]', <T,>(a: T) => expect(a satisfies unknown).toBe(a!));`, ['A-001']],
  ])('finds the ids of %s', (_what, source, ids) => {
    expect(citationsIn(source)).toEqual(ids);
  });

  it('finds the ids of a test beside markup', () => {
    expect(citationsIn(`it('x [A-001]', () => { render(<Page title="[A-009]" />); });`, 'tsx')).toEqual(['A-001']);
  });

  it.each([
    ['a comment', `// it('x [A-001]', f)\n/* it('x [A-001]') */ it('x', f); // [A-001]`],
    ['another string', `const note = 'x [A-001]'; it('x', () => expect(note).toBe('[A-001]'));`],
    ['a case of a table', `it.each(['[A-001]', 'it("[A-001]")'])('x %s', f);`],
    ['a computed id', 'it(`x [${id}] [A-${n}] [A-00${n}1]`, f);'],
    ['another function', `visit('x [A-001]', f); page.it('x [A-001]', f); it.extend('x [A-001]', f);`],
    ['a skipped test', `it.skip('x [A-001]', f); it.skip.each([1])('x [A-001]', f); it.todo('x [A-001]');`],
    ['a skipped suite', `describe.skip('x [A-001]', () => { it('y [A-002]', f); });`],
    ['a test that is expected to fail', `it.fails('x [A-001]', f);`],
    ['brackets around words', `it('takes [] and [a-001] and [some, words]', f);`],
  ])('counts no id in %s', (_what, source) => {
    expect(citationsIn(source)).toEqual([]);
  });

  it('keeps a mistyped id, so that it is reported as unknown', () => {
    expect(citationsIn(`it('x [A-1, B_2] [LIST-04]', f);`)).toEqual(['A-1', 'B_2', 'LIST-04']);
  });

  it('reads the test files of the packages and of tests/, and leaves this one out', () => {
    const files = testFiles();
    expect(files).not.toContain('tests/coverage.test.ts');
    expect(files.filter((file) => !/^(packages|tests)\/.+\.test\.tsx?$/.test(file))).toEqual([]);
    expect(files.filter((file) => file.includes('node_modules'))).toEqual([]);
  });
});

function anchorsIn(page: string): Set<string> {
  return new Set(anchorsOf(parseMarkdown(readFileSync(join(root, page), 'utf8'))).values());
}

type Coverage = { area: Area; uncited: Area['requirements'] }[];

function coverageOf(all: readonly Area[], cited: ReadonlySet<string>): Coverage {
  return all.map((each) => ({ area: each, uncited: each.requirements.filter(({ id }) => !cited.has(id)) }));
}

function missingIn(coverage: Coverage): string[] {
  return coverage
    .filter(({ area: { status } }) => status === 'done')
    .flatMap(({ uncited }) => uncited.map(({ id, source, text }) => `${id} (${source}): ${text}`));
}

function tableOf(coverage: Coverage): string {
  const line = (name: string, status: string, cited: number | string, total: number | string) =>
    `${name.padEnd(18)}${status.padEnd(6)}${String(cited).padStart(6)}${String(total).padStart(7)}`;
  const lines = coverage.map(({ area: { name, status, requirements }, uncited }) =>
    line(name, status, requirements.length - uncited.length, requirements.length),
  );
  const total = coverage.reduce((sum, each) => sum + each.area.requirements.length, 0);
  const uncited = coverage.reduce((sum, each) => sum + each.uncited.length, 0);
  return [line('area', '', 'cited', 'total'), ...lines, line('all', '', total - uncited, total)].join('\n');
}

function idsOfAll(all: readonly Area[]): Set<string> {
  return new Set(all.flatMap(({ requirements }) => requirements.map(({ id }) => id)));
}

function testFiles(): string[] {
  return globSync(['packages/**/*.test.{ts,tsx}', 'tests/**/*.test.ts'], {
    cwd: root,
    exclude: ['**/node_modules/**', 'tests/requirements/**', 'tests/coverage.test.ts'],
  });
}

/** A citation is an id in square brackets inside the title of a test that runs; comments and other strings are none. */
function citationsIn(source: string, lang: 'ts' | 'tsx' = 'ts'): string[] {
  return titlesIn(parseAst(source, { lang })).flatMap(idsIn);
}

function idsIn(title: string): string[] {
  return [...title.matchAll(/\[([^[\]]+)\]/g)]
    .map(([, inside = '']) => inside.split(',').map((item) => item.trim()))
    .filter((items) => items.some((item) => /^[A-Z][A-Z0-9]*-\d+$/.test(item)))
    .flat();
}

type Node = { type: string; [field: string]: unknown };

const testFunctions = new Set(['it', 'test', 'describe', 'suite']);
const notRun = new Set(['skip', 'todo', 'fails']);
const plainModifiers = new Set(['only', 'concurrent', 'sequential', 'shuffle']);
const calledModifiers = new Set(['each()', 'for()', 'prop()', 'skipIf()', 'runIf()']);

function titlesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(titlesIn);
  if (!isNode(node)) return [];
  const modifiers = node.type === 'CallExpression' ? modifiersOf(node.callee) : undefined;
  if (modifiers?.some((modifier) => notRun.has(modifier))) return [];
  const inside = Object.values(node).flatMap(titlesIn);
  return modifiers && takesTitle(modifiers) ? [textOf((node.arguments as unknown[])[0]), ...inside] : inside;
}

function takesTitle(modifiers: string[]): boolean {
  const last = modifiers.at(-1);
  return last === undefined || plainModifiers.has(last) || calledModifiers.has(last);
}

/** `it.concurrent.each([…])` has the modifiers `concurrent` and `each()`; what is no test function has none at all. */
function modifiersOf(callee: unknown): string[] | undefined {
  if (!isNode(callee)) return undefined;
  if (callee.type === 'Identifier') return testFunctions.has(String(callee.name)) ? [] : undefined;
  if (callee.type === 'MemberExpression') {
    const { property } = callee;
    const name = isNode(property) && property.type === 'Identifier' ? String(property.name) : '';
    return modifiersOf(callee.object)?.concat(name);
  }
  const called = callee.type === 'CallExpression' ? callee.callee : undefined;
  const modifiers = modifiersOf(called ?? (callee.type === 'TaggedTemplateExpression' ? callee.tag : undefined));
  return modifiers && [...modifiers.slice(0, -1), `${modifiers.at(-1)}()`];
}

/** The static text of a title. An interpolated value leaves a gap that no id can span. */
function textOf(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : '';
  if (node.type === 'BinaryExpression') return textOf(node.left) + textOf(node.right);
  if (node.type !== 'TemplateLiteral') return '';
  return (node.quasis as { value: { raw: string } }[]).map(({ value }) => value.raw).join('[');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
