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

async function read(text: string) {
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

describe('a rejected file', () => {
  it.each([
    ['that is no YAML', 'name: desk\ntools: [a\nmodel: x\n', 'service.yaml:3:'],
    ['with a key twice', 'name: desk\nmodel: a\nmodel: b\n', 'service.yaml:3:1 '],
    ['with a tag that nobody knows', 'name: !secret desk\n', 'service.yaml:1:7 '],
    ['with an alias to nothing', 'name: desk\nmodel: *none\n', 'service.yaml:2:8 '],
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
