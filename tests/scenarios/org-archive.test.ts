import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@vestra/contract/ids';
import { type Operator, openOperator } from '@vestra/server/operator/operator';
import { exportOrg } from '@vestra/server/operator/org-move/export';
import { activate, handOver, release } from '@vestra/server/operator/org-move/hand-over';
import { importOrg } from '@vestra/server/operator/org-move/import';
import { restore } from '@vestra/server/operator/restore';
import { readConfig } from '@vestra/server/platform/config/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { call, startTestServer, type TestServer } from '../support/server.ts';
import { type OpenArchive, readArchive, sealAgain } from './org-archive.fixture.ts';

const progress = { show: () => {}, end: () => {} };
const masterKeys = { source: 'ab'.repeat(32), target: 'cd'.repeat(32) };

let folder: string;
let source: TestServer;
let target: TestServer;
let operators: { source: Operator; target: Operator };
let archive: string;
let keyFile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-org-archive-'));
  source = await startTestServer();
  target = await startTestServer({ env: { VESTRA_MASTER_KEY: masterKeys.target } });
  operators = { source: await operatorOf('source', source), target: await operatorOf('target', target) };
  // The same person has a login with another password in the other installation.
  await query(target.connectionString, `UPDATE logins SET email = $1`, [source.owner.email]);
  await query(target.connectionString, `UPDATE members SET email = $1`, [source.owner.email]);
  await source.call('PUT', '/v1/deployments/desk', { body: { name: 'desk', instructions: 'Be kind.' } });
  await target.call('PUT', '/v1/deployments/theirs', { body: { name: 'theirs', instructions: 'Be kind.' } });
  await source.call('POST', '/v1/conversations', { body: { deployment: 'desk' } });
  await source.call('POST', '/v1/users', { body: { user_id: 'anna' } });
  archive = join(folder, 'org.tar');
  keyFile = join(folder, 'org.key');
  await exportOrg(operators.source, { orgId: source.orgId, file: archive, keyFile, waitMs: 1000 }, progress);
});
afterAll(async () => {
  for (const each of Object.values(operators)) await each.close();
  await source.stop();
  await target.stop();
  await rm(folder, { recursive: true, force: true });
});

const operatorOf = (name: 'source' | 'target', { connectionString }: TestServer) =>
  openOperator(
    readConfig({
      DATABASE_URL: connectionString,
      VESTRA_MASTER_KEY: masterKeys[name],
      VESTRA_DATA_DIR: join(folder, name),
    }),
  );

const bring = (file = archive, key = keyFile) => importOrg(operators.target, { file, keyFile: key }, progress);

/** The error of an import, after which nothing of the org may be there. */
async function refusalOf(importing: Promise<unknown>): Promise<string> {
  const error = await importing.then(
    () => null,
    (thrown: Error) => thrown,
  );
  const left = await query(target.connectionString, 'SELECT FROM orgs WHERE id = $1', [source.orgId]);
  expect(left).toEqual([]);
  return error?.message ?? 'imported';
}

/** Changes a table's part: each line is a row in COPY format. */
const inTable = (name: string, change: (rows: string[], columns: string[]) => string[]) => (open: OpenArchive) => {
  const part = `database/${name}.copy.gz`;
  const columns = open.manifest.tables.find((table) => table.name === name)?.columns as string[];
  const rows = (open.parts.get(part) as Buffer).toString().split('\n').filter(Boolean);
  open.parts.set(
    part,
    Buffer.from(
      change(rows, columns)
        .map((row) => `${row}\n`)
        .join(''),
    ),
  );
};

const set = (row: string | undefined, columns: string[], values: Record<string, string>) =>
  (row ?? '')
    .split('\t')
    .map((value, at) => values[columns[at] as string] ?? value)
    .join('\t');

describe('an archive of an org', () => {
  it('is refused with another key, a changed byte, or as a backup [MOVE-713]', async () => {
    const other = join(folder, 'other.key');
    await writeFile(other, randomBytes(32).toString('hex'));
    expect(await refusalOf(bring(archive, other))).toMatch(/does not open this archive/);
    const bytes = await readFile(archive);
    const changed = join(folder, 'changed.tar');
    const at = bytes.indexOf('database/users.copy.gz') + 700;
    bytes[at] = (bytes[at] as number) ^ 1;
    await writeFile(changed, bytes);
    expect(await refusalOf(bring(changed))).toMatch(/is not whole/);
    await writeFile(changed, (await readFile(archive)).subarray(0, 20_000));
    expect(await refusalOf(bring(changed))).toMatch(/is not whole/);
    const config = readConfig({ VESTRA_DATA_DIR: join(folder, 'third') });
    await expect(restore({ config, progress }, archive, undefined)).rejects.toThrow(/use vestra admin org import/);
  });

  it('is refused if its hashes are right and its seal is that of another archive [MOVE-713]', async () => {
    const open = await readArchive(archive);
    const forged = join(folder, 'forged.tar');
    await sealAgain(forged, keyFile, open, (move) => ({ ...move, move_id: 'move_of_somebody_else' }));
    expect(await refusalOf(bring(forged))).toMatch(/or the archive was changed/);
  });

  const hostile: [what: string, expected: RegExp, change: (open: OpenArchive) => void][] = [
    [
      'a path that leads out',
      /no archive has a part with the name/,
      ({ parts }) => parts.set('files/../../etc/cron.d/x', Buffer.from('x')),
    ],
    [
      'a part of its own',
      /it has a part/,
      ({ parts }) => parts.set('database/server_settings.copy.gz', Buffer.from('x')),
    ],
    [
      'files of another org',
      /it has a part|the content of/,
      ({ parts }) => parts.set(`files/${newId('org')}/${'0'.repeat(64)}`, Buffer.from('x')),
    ],
    [
      'a user of another org',
      /a row of users does not belong/,
      inTable('users', ([row], columns) => [set(row, columns, { org_id: target.orgId })]),
    ],
    [
      'a key of another org',
      /a row of api_keys does not belong/,
      inTable('api_keys', ([row], columns) => [set(row, columns, { org_id: target.orgId })]),
    ],
    [
      'a second org',
      /a row of orgs does not belong/,
      inTable('orgs', ([row = ''], columns) => [row, set(row, columns, { id: newId('org') })]),
    ],
    [
      'a member that the login of somebody else opens',
      /a row of members does not belong/,
      inTable('members', ([row], columns) => [set(row, columns, { login: '\\N', opened_by: 'password' })]),
    ],
    [
      'a login of its own',
      /a row of logins does not belong/,
      inTable('logins', ([row], columns) => [set(row, columns, { email: 'victim@example.com' })]),
    ],
    [
      'a password hash that takes a gigabyte to check',
      /a row of logins does not belong/,
      inTable('logins', ([row], columns) => [
        set(row, columns, { password_hash: `$argon2id$v=19$m=4000000,t=9,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}` }),
      ]),
    ],
    [
      'events of a conversation that it does not have',
      /a row of messages does not belong/,
      inTable('messages', (_, columns) => [
        columns.map((column) => (column === 'conversation_id' ? newId('conv') : fittingValue(column))).join('\t'),
      ]),
    ],
    [
      'a deployment that this installation has',
      /an id that this installation uses already/,
      inTable('deployments', (rows, columns) => [...rows, set(rows[0], columns, { id: theirs(), slug: 'other' })]),
    ],
    [
      'a conversation with the deployment of another org',
      /names dep_\w+, which belongs to another org/,
      inTable('conversations', ([row], columns) => [set(row, columns, { deployment_id: theirs() })]),
    ],
    [
      'a job for another org',
      /a row of jobs does not belong/,
      inTable('jobs', (_, columns) => [
        columns
          .map(
            (column) =>
              ({
                id: crypto.randomUUID(),
                name: 'knowledge.empty',
                share: `${source.orgId} 0`,
                payload: JSON.stringify({ org_id: target.orgId }),
              })[column] ?? fittingValue(column),
          )
          .join('\t'),
      ]),
    ],
    ['fewer tables', /it has a part/, ({ manifest }) => void manifest.tables.pop()],
    ['another schema', /with another database schema/, ({ opening }) => void opening.migrations.pop()],
  ];
  let deploymentId = '';
  const theirs = () => deploymentId;
  /** Fits a column of any kind that these rows have. */
  const fittingValue = (column: string) =>
    /_at$/.test(column)
      ? '2026-01-01'
      : /^is_|^encrypted/.test(column)
        ? 'f'
        : /ordinal|attempts|failures/.test(column)
          ? '1'
          : /attachments|data|context|payload|sources/.test(column)
            ? '[]'
            : column === 'role'
              ? 'user'
              : 'x';

  it.each(hostile)('is refused with %s, before anything is written [MOVE-713]', async (_what, expected, change) => {
    const [deployment] = await query<{ id: string }>(
      target.connectionString,
      `SELECT id FROM deployments WHERE slug = 'theirs'`,
    );
    deploymentId = deployment?.id as string;
    const open = await readArchive(archive);
    change(open);
    const path = join(folder, `hostile-${randomBytes(4).toString('hex')}.tar`);
    await sealAgain(path, keyFile, open);
    expect(await refusalOf(bring(path))).toMatch(expected);
  });

  it('opens only its own org with its passwords, beside logins of the same email [MOVE-714]', async () => {
    const { receipt } = await bring();
    const { code } = await handOver(operators.source, source.orgId, receipt as string);
    await activate(operators.target, source.orgId, code);
    const orgsOf = async (password: string) => {
      const body = { email: source.owner.email, password };
      const { status, body: answer } = await call(target.url, null, 'POST', '/v1/console/login', { body });
      return [status, answer.orgs?.map(({ id }: { id: string }) => id)];
    };
    expect(await orgsOf(source.owner.password)).toEqual([200, [source.orgId]]);
    expect(await orgsOf(target.owner.password)).toEqual([200, [target.orgId]]);
  });

  it('replaces a copy that was never active, and such a copy can be released [MOVE-703, MOVE-706]', async () => {
    const second = await startTestServer();
    const operator = await operatorOf('source', second);
    const files = [1, 2].map((number) => ({
      file: join(folder, `again-${number}.tar`),
      keyFile: join(folder, `again-${number}.key`),
    }));
    const receipts: (string | null)[] = [];
    for (const each of files) {
      await exportOrg(operator, { orgId: second.orgId, ...each, waitMs: 1000 }, progress);
      receipts.push((await importOrg(operators.target, each, progress)).receipt);
    }
    expect(receipts[0]).not.toBe(receipts[1]);
    // The first archive belongs to a move that was given up.
    const { code } = await handOver(operator, second.orgId, receipts[0] as string);
    await expect(activate(operators.target, second.orgId, code)).rejects.toThrow(/not the code/);
    expect(await release(operators.target, second.orgId)).toMatchObject({ released: 'copy' });
    const left = await query(target.connectionString, 'SELECT FROM orgs WHERE id = $1', [second.orgId]);
    expect(left).toEqual([]);
    await operator.close();
    await second.stop();
  });
});
