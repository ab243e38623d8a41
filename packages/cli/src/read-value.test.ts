import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '@vestra/contract/derive/commands';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindingsOf } from './bindings.ts';
import { readValue, type TypedValue } from './read-value.ts';
import { keptTerminal } from './terminal.fixture.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-cli-values-'));
  await writeFile(join(folder, 'value.json'), '{"from":"a file"}');
  await writeFile(join(folder, 'latin1.json'), Buffer.from('{"from":"M\xfcnchen"}', 'latin1'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Parses a typed value for an argument of the command table. */
async function read(command: string, argument: string, given: TypedValue, stdin = ''): Promise<unknown> {
  const found = commands.find(({ name }) => name === command);
  const binding = found && bindingsOf(found).find((each) => each.argument.name === argument);
  if (!binding) throw new Error(`The table has no ${argument} of ${command}.`);
  return readValue(keptTerminal({ cwd: folder, stdin }).terminal, binding.flag, binding.shape, given);
}

describe('readValue', () => {
  it.each<[string, string, TypedValue, unknown]>([
    ['users create', 'name', 'Ada', 'Ada'],
    ['users update', 'name', 'null', null],
    ['users update', 'spend_cap_usd', '2.5', 2.5],
    ['users update', 'spend_cap_usd', 'null', null],
    ['users update', 'metadata', '{"plan":"pro"}', { plan: 'pro' }],
    ['users update', 'metadata', '@value.json', { from: 'a file' }],
    ['users list', 'created_after', '2026-01-01', '2026-01-01'],
    ['scenarios generate', 'count', '3', 3],
    ['routines update', 'enabled', false, false],
    ['interactions answer', 'approve', true, true],
    ['interactions answer', 'answers', ['red, or blue', 'large'], ['red, or blue', 'large']],
    ['interactions answer', 'output', '{"ok":true}', { ok: true }],
    ['interactions answer', 'output', 'plain words', 'plain words'],
    ['interactions answer', 'output', '@value.json', { from: 'a file' }],
    ['keys create', 'scopes', ['setup', 'runtime'], ['setup', 'runtime']],
    ['keys create', 'scopes', ['setup,runtime'], ['setup', 'runtime']],
    ['webhooks create', 'events', ['*'], '*'],
    ['webhooks create', 'events', ['task.failed', 'task.completed'], ['task.failed', 'task.completed']],
    ['deployments put', 'apps', ['all'], 'all'],
    ['deployments put', 'apps', ['gmail', 'drive'], ['gmail', 'drive']],
    ['org update', 'allowed_return_urls', ['[]'], []],
    ['conversations create', 'metadata', ['team=a=b', 'plan='], { team: 'a=b', plan: '' }],
    ['users create', 'metadata', ['plan=pro', 'team=a'], { plan: 'pro', team: 'a' }],
    ['conversations create', 'metadata', ['{"team":"a"}'], { team: 'a' }],
    ['conversations create', 'message', '@ada said hello', '@ada said hello'],
    ['sessions create', 'screen', 'false', false],
    ['sessions create', 'screen', 'control', 'control'],
    ['sessions create', 'voice', 'true', true],
    ['sessions create', 'voice', 'alloy', 'alloy'],
  ])('%s --%s %j is %j', async (command, argument, given, value) => {
    expect(await read(command, argument, given)).toEqual(value);
  });

  it('rejects a file that is not UTF-8 [DFILE-701]', async () => {
    await expect(read('users update', 'metadata', '@latin1.json')).rejects.toThrow('which is not text in UTF-8.');
  });

  it('reads a text from standard input, without the final newline', async () => {
    expect(await read('secrets set', 'value', '-', 'two\nlines\n')).toBe('two\nlines');
    expect(await read('users update', 'metadata', '-', '{"a":1}\n')).toEqual({ a: 1 });
  });

  it.each<[string, string, TypedValue, RegExp]>([
    ['scenarios generate', 'count', 'many', /--count expects a number, not "many"/],
    ['scenarios generate', 'count', '', /--count expects a number/],
    ['users list', 'status', 'gone', /--status expects active or disabled, not "gone"/],
    ['keys create', 'scopes', ['setup', 'everything'], /--scopes expects setup, runtime, admin or all/],
    ['users update', 'metadata', '{plan', /--metadata expects JSON/],
    ['users update', 'metadata', '@nowhere.json', /nowhere\.json, which cannot be read \(ENOENT\)/],
    ['conversations create', 'metadata', ['team'], /--metadata expects key=value/],
  ])('%s --%s %j is refused', async (command, argument, given, message) => {
    await expect(read(command, argument, given)).rejects.toThrow(message);
    await expect(read(command, argument, given)).rejects.toMatchObject({ exitCode: 2 });
  });
});
