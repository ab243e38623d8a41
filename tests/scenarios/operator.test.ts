import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, runProgram, type ServerProcess, startProcess } from '../support/process.ts';
import { call } from '../support/server.ts';

let dataDir: string;
let remove: () => Promise<void>;
let server: ServerProcess;

beforeAll(async () => {
  ({ dataDir, remove } = await makeDataDir());
  server = await startProcess(dataDir);
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await remove();
});

const admin = (...words: string[]) => runProgram('operator', words, { VESTRA_DATA_DIR: dataDir });
const json = async (...words: string[]) => JSON.parse((await admin(...words, '--json')).output);
const me = (key: string) => call(server.url, null, 'GET', '/v1/me', { key });

describe('operator commands beside a running server', () => {
  it('create an org whose keys work at once, separate from the first [TEN-003, TEN-004, TEN-005, TEN-029]', async () => {
    const made = await json('org', 'create', '--name', 'Second company');
    expect(Object.keys(made).sort()).toEqual(['live_key', 'org_id', 'owner', 'test_key']);
    expect((await me(made.test_key)).body.org).toEqual({ id: made.org_id, name: 'Second company', status: 'active' });
    expect((await me(made.live_key)).body.mode).toBe('live');
    const mine = await server.call('GET', '/v1/keys');
    const theirs = await call(server.url, null, 'GET', '/v1/keys', { key: made.test_key });
    expect(theirs.body.data).toHaveLength(1);
    const foreign = await call(server.url, null, 'DELETE', `/v1/keys/${mine.body.data[0].id}`, { key: made.test_key });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'key_not_found']);
  });

  it('show the usage of the command that is asked about, or of its group [OPS-320]', async () => {
    const usageOf = async (...words: string[]) => {
      const { code, output } = await admin(...words, '--help');
      expect(code).toBe(2);
      return [...output.matchAll(/^ {2}vestra admin (\S+(?: [a-z-]+)?)/gm)].map(([, name]) => name);
    };
    expect(await usageOf('backup')).toEqual(['backup']);
    expect(await usageOf('member')).toEqual(['member invite', 'member reset-password']);
    expect((await usageOf()).length).toBeGreaterThan(10);
  });

  it('add money to one mode of one org [MON-010]', async () => {
    const { org_id, live_key } = await json('org', 'create', '--name', 'Paying');
    expect(await json('credit', '--org', org_id, '--mode', 'live', '--usd', '12.34567')).toEqual({
      org_id,
      mode: 'live',
      balance_usd: 12.34567,
    });
    const org = await call(server.url, null, 'GET', '/v1/org', { key: live_key });
    expect(org.body.balance_usd).toBe(12.34567);
    const log = await call(server.url, null, 'GET', '/v1/audit-log?action=wallet.credited', { key: live_key });
    expect(log.body.data[0]).toMatchObject({ actor: { type: 'system' }, details: { usd: 12.34567 } });
  });

  it('invite a person with a link that works', async () => {
    const { org_id } = await json('org', 'create', '--name', 'Inviting');
    const invited = await json('member', 'invite', '--org', org_id, '--email', 'ada@example.com', '--role', 'admin');
    const token = new URL(invited.invite_url).hash.replace('#token=', '');
    const accepted = await call(server.url, null, 'POST', '/v1/members/accept', {
      body: { token, name: 'Ada', password: 'correct horse battery' },
    });
    expect([accepted.status, accepted.body.role]).toEqual([200, 'admin']);
  });

  it('rotate the master key under a running server, which keeps serving [SEC-017]', async () => {
    const before = await readFile(join(dataDir, 'master-key'), 'utf8');
    const store = (name: string) => server.call('PUT', `/v1/secrets/${name}`, { body: { value: 'kept' } });
    expect((await store('BEFORE')).status).toBe(200);
    const { rewrapped } = await json('rotate-master-key');
    expect(rewrapped).toBeGreaterThan(1);
    const after = await readFile(join(dataDir, 'master-key'), 'utf8');
    expect(after).not.toContain(before.trim());
    expect((await store('AFTER')).status).toBe(200);
    const key = (
      await server.call('POST', '/v1/keys', {
        body: { name: 'k', scopes: ['runtime'] },
        headers: { 'idempotency-key': 'rotated' },
      })
    ).body.key;
    expect(
      (
        await server.call('POST', '/v1/keys', {
          body: { name: 'k', scopes: ['runtime'] },
          headers: { 'idempotency-key': 'rotated' },
        })
      ).body.key,
    ).toBe(key);
  });

  it.each([
    [['org', 'create'], '--name is missing', 2],
    [['credit', '--org', 'nope', '--mode', 'live', '--usd', '1'], '--org must be an org id', 1],
    [['credit', '--org', `org_${'0'.repeat(24)}`, '--mode', 'live', '--usd', '1'], 'There is no org', 1],
    [['credit', '--org', `org_${'0'.repeat(24)}`, '--mode', 'moon', '--usd', '1'], '--mode must be', 1],
    [['credit', '--org', `org_${'0'.repeat(24)}`, '--mode', 'live', '--usd', '-1'], '--usd', 2],
    [['nonsense'], 'Usage', 2],
    [['org', 'create', '--colour', 'red'], 'Unknown option', 2],
  ])('%j prints the error %s and exits with %i', async (words, sentence, exitCode) => {
    const { code, output } = await admin(...words);
    expect(code).toBe(exitCode);
    expect(output).toContain(sentence);
  });
});

describe('the command vestra', () => {
  const bin = join(import.meta.dirname, '../../packages/cli/bin/vestra.js');
  const vestra = (...words: string[]) =>
    spawnSync(process.execPath, [bin, ...words], {
      encoding: 'utf8',
      env: { ...process.env, VESTRA_DATA_DIR: dataDir },
    });

  it('runs the operator commands and passes their flags and exit code on', () => {
    const made = vestra('admin', 'org', 'create', '--name', 'By the command', '--json');
    expect([made.status, Object.keys(JSON.parse(made.stdout)).sort()]).toEqual([
      0,
      ['live_key', 'org_id', 'owner', 'test_key'],
    ]);
    const refused = vestra('admin', 'credit', '--org', 'nope', '--mode', 'live', '--usd', '1');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('--org must be an org id')]);
  });
});

describe('operator commands without a server', () => {
  it('start the database while they run', async () => {
    await server.kill('SIGTERM');
    const made = await json('org', 'create', '--name', 'Made offline');
    server = await startProcess(dataDir);
    expect((await me(made.test_key)).status).toBe(200);
  });
});
