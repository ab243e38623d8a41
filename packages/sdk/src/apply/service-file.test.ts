import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readServiceFile } from './service-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-service-file-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(text: string | Uint8Array) {
  await writeFile(join(folder, 'service.yaml'), text);
  return readServiceFile({ folder, file: 'service.yaml' });
}

describe('a place of the file', () => {
  const text = [
    'name: desk',
    'tools:',
    '  - function: look',
    '    input: &shape { type: object }',
    '  - function: find',
    '    input: *shape',
    'tests:',
    '  - name: One',
    '    tool_results:',
    '      shipping: {}',
    '      shipping.track: { day: 1 }',
    '',
  ].join('\n');

  it.each([
    ['', 1, 1],
    ['name', 1, 1],
    ['language', 1, 1],
    ['tools', 2, 1],
    ['tools.1', 5, 5],
    ['tools.0.input.type', 4, 21],
    ['tools.1.input.type', 4, 21],
    ['tools.1.timeout_s', 5, 5],
    ['tools.7.function', 2, 1],
    ['tests.0.tool_results.shipping.track', 11, 7],
    ['tests.0.tool_results.shipping.track.day', 11, 25],
  ])('`%s` is at %d:%d', async (param, line, column) => {
    const { problemAt } = await read(text);
    expect(problemAt(param, 'No.')).toEqual({ file: 'service.yaml', line, column, message: 'No.', code: null, param });
  });
});

it('merges mappings with `<<`, and own keys win [DFILE-700]', async () => {
  const { content, problemAt } = await read(
    [
      'name: desk',
      'tools:',
      '  - &lookup',
      '    function: find_order',
      '    timeout_s: 5',
      '    read_only: true',
      '  - <<: *lookup',
      '    function: find_loan',
      '  - <<: [*lookup, { approver: org }]',
      '    function: find_bill',
      '    timeout_s: 9',
      '',
    ].join('\n'),
  );
  const lookup = { function: 'find_order', timeout_s: 5, read_only: true };
  expect(content.tools).toEqual([
    lookup,
    { ...lookup, function: 'find_loan' },
    { ...lookup, function: 'find_bill', timeout_s: 9, approver: 'org' },
  ]);
  const placeOf = (param: string) => {
    const { line, column } = problemAt(param, 'No.');
    return `${line}:${column}`;
  };
  expect(['tools.1.timeout_s', 'tools.1.function', 'tools.2.timeout_s', 'tools.2.approver'].map(placeOf)).toEqual([
    '5:5',
    '8:5',
    '11:5',
    '9:21',
  ]);
});

describe('a rejected file', () => {
  it.each([
    ['at its first bad byte', Buffer.from('name: desk\ninstructions: Gr\xfc\xdfe\n', 'latin1'), '2:17'],
    [
      'after a replacement character of its own',
      Buffer.concat([Buffer.from('name: desk # \ufffd é\nx: '), Buffer.of(0xff)]),
      '2:4',
    ],
    ['in UTF-16', Buffer.from('\ufeffname: desk\n', 'utf16le'), '1:1'],
  ])('that is not UTF-8, %s [DFILE-701]', async (_, bytes, place) => {
    const error = await read(bytes).catch((each) => each);
    expect(error.message).toBe(`service.yaml:${place} The file is not text in UTF-8: save it as UTF-8.`);
  });

  it.each([
    ['that is no YAML', 'name: desk\ntools: [a\nmodel: x\n', 'service.yaml:2:8 '],
    ['with a key twice', 'name: desk\nmodel: a\nmodel: b\n', 'service.yaml:3:1 '],
    ['with a tag that nobody knows', 'name: !secret desk\n', 'service.yaml:1:7 '],
    ['with an alias to nothing', 'name: desk\nmodel: *none\n', 'service.yaml:2:8 '],
    [
      'that merges what is no mapping',
      'name: desk\n<<: 3\n',
      'service.yaml:1:1 Write the alias of a mapping after `<<:`',
    ],
    ['that merges itself', 'name: desk\ncomputer: &it\n  <<: *it\n', 'service.yaml:'],
    ['that holds two', 'name: desk\n---\nname: other\n', 'service.yaml:2:1 '],
    ['that is empty', '', 'service.yaml:1:1 A deployment file is lines'],
    ['that is a list', '- name: desk\n', 'service.yaml:1:1 A deployment file is lines'],
    ['without a name', 'model: x\n', 'service.yaml:1:1 name: `name` is needed'],
    ['whose name is a number', 'model: x\nname: 12\n', 'service.yaml:2:1 name: `name` is needed'],
  ])('%s', async (_, text, start) => {
    const error = await read(text).catch((each) => each);
    expect(error.name).toBe('ApplyError');
    expect(error.message.slice(0, start.length)).toBe(start);
  });

  it('with exponential aliases', async () => {
    const levels = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(9)}]`);
    await expect(read(`name: desk\nl0: &l0 [x]\n${levels.join('\n')}\n`)).rejects.toThrow('aliases');
  });
});
