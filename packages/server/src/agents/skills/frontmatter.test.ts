import { describe, expect, it } from 'vitest';
import { readFrontmatter } from './frontmatter.ts';

const file = (head: string) => `---\n${head}\n---\n\n# Body\n`;
const refusalOf = (content: string) => {
  try {
    readFrontmatter(content, 'files.0.content');
  } catch (error) {
    return error as { code: string; message: string; details: { param: string } };
  }
  throw new Error('It was taken.');
};

describe('frontmatter accepts', () => {
  it.each([
    ['one letter', 'a'],
    ['digits', '2024'],
    ['64 characters', `a${'-b'.repeat(31)}c`],
  ])('a name of %s', (_what, name) => {
    expect(readFrontmatter(file(`name: "${name}"\ndescription: Does it.`), 'p')).toEqual({
      name,
      description: 'Does it.',
    });
  });

  it('every field of the format, and fields of other programs', () => {
    const head = [
      'name: refunds',
      'description: >',
      '  How refunds are made,',
      '  step by step.',
      'license: Apache-2.0',
      'compatibility: Needs python3.',
      'metadata: {author: shop, version: 1.2, draft: false}',
      'allowed-tools: run_command read_file',
      'model: fast',
      'hooks: [{on: start}]',
    ].join('\n');
    expect(readFrontmatter(file(head), 'p')).toEqual({
      name: 'refunds',
      description: 'How refunds are made, step by step.',
    });
    expect(readFrontmatter(file('name: a\ndescription: b\nallowed-tools:\n  - read_file'), 'p').name).toBe('a');
  });

  it('a byte order mark, Windows line endings and spaces after the fence', () => {
    const content = '\uFEFF--- \r\nname: refunds\r\ndescription: Made.\r\n---\t\r\nBody';
    expect(readFrontmatter(content, 'p')).toEqual({ name: 'refunds', description: 'Made.' });
  });

  it('a description of 1024 characters, with an emoji as one', () => {
    const description = '😀'.repeat(1024);
    expect(readFrontmatter(file(`name: a\ndescription: ${description}`), 'p').description).toBe(description);
  });
});

describe('frontmatter refuses', () => {
  it.each([
    ['a hyphen first', '-a'],
    ['a hyphen last', 'a-'],
    ['two hyphens', 'a--b'],
    ['a capital', 'Refunds'],
    ['an underscore', 'a_b'],
    ['a letter beyond ASCII', 'é'],
    ['65 characters', 'a'.repeat(65)],
    ['nothing', '""'],
    ['a line end', '"a\\n"'],
    ['a number', '7'],
    ['null', '~'],
    ['a list', '[a]'],
  ])('a name with %s', (_what, name) => {
    const refusal = refusalOf(file(`name: ${name}\ndescription: b`));
    expect(refusal).toMatchObject({ code: 'invalid_frontmatter', details: { param: 'files.0.content' } });
    expect(refusal.message).toContain('`name`');
  });

  it.each([
    ['no name', 'description: b', '`name` is missing'],
    ['no description', 'name: a', '`description` is missing'],
    ['an empty description', 'name: a\ndescription: "  "', '`description`'],
    ['a null description', 'name: a\ndescription:', '`description`'],
    ['a description of 1025', `name: a\ndescription: ${'x'.repeat(1025)}`, '`description`'],
    ['a compatibility of 501', `name: a\ndescription: b\ncompatibility: ${'x'.repeat(501)}`, '`compatibility`'],
    ['an empty compatibility', 'name: a\ndescription: b\ncompatibility: ""', '`compatibility`'],
    ['a license that is a list', 'name: a\ndescription: b\nlicense: [x]', '`license`'],
    ['metadata that is a list', 'name: a\ndescription: b\nmetadata: [x]', '`metadata`'],
    ['metadata of maps', 'name: a\ndescription: b\nmetadata: {a: {b: c}}', '`metadata`'],
    ['tools that are a map', 'name: a\ndescription: b\nallowed-tools: {a: b}', '`allowed-tools`'],
    ['a list', '- name: a', 'lines of `name: value`'],
    ['a word', 'refunds', 'lines of `name: value`'],
    ['nothing', '', 'lines of `name: value`'],
    ['YAML that is none', 'name: [a', 'not plain YAML'],
    [
      'a name given twice',
      'name: a\nname: b\ndescription: c',
      'line 3: its frontmatter is not plain YAML: `name` is in this',
    ],
    ['a tag of its own', 'name: !!js/function "x"\ndescription: b', 'not plain YAML'],
    [
      'another tag of its own',
      'name: a\ndescription: !env HOME',
      '`SKILL.md`, line 3: its frontmatter is not plain YAML: The tag `!env` has no',
    ],
    ['a key that is a list', '? [a]\n: b\nname: a\ndescription: c', 'not plain YAML'],
    ['an alias', 'name: &a x\ndescription: *a', 'alias'],
    ['endless nesting', `name: ${'['.repeat(8000)}`, 'not plain YAML'],
    ['endless length', `name: a\ndescription: b\nx: ${'y'.repeat(8200)}`, 'longer than'],
  ])('%s', (_what, head, reason) => {
    const refusal = refusalOf(file(head));
    expect(refusal.code).toBe('invalid_frontmatter');
    expect(refusal.message).toContain(reason);
  });

  it.each([
    ['a file without it', '# Refunds\n'],
    ['an empty file', ''],
    ['one that does not end', '---\nname: a\ndescription: b\n'],
    ['one that is not at the very top', '\n---\nname: a\ndescription: b\n---\n'],
    ['one in another language', '---js\n{ name: "a", description: "b" }\n---\n'],
    ['one between other signs', '+++\nname = "a"\n+++\n'],
  ])('%s', (_what, content) => {
    expect(refusalOf(content)).toMatchObject({ code: 'invalid_frontmatter' });
  });

  it('an alias bomb in linear time', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [at, letter] of [...'bcdefghij'].entries()) {
      const before = 'abcdefghij'[at] as string;
      lines.push(`${letter}: &${letter} [${Array(10).fill(`*${before}`).join(', ')}]`);
    }
    const startedAt = performance.now();
    expect(refusalOf(file(`name: a\ndescription: b\n${lines.join('\n')}`)).message).toContain('alias');
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});
