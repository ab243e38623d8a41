import { type S3Fixture, startS3 } from '@vestra/server/platform/files/s3-server.fixture';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { type ComputerDesk, startComputerDesk } from './computer.fixture.ts';
import { calling, inTurn, resultsIn } from './interactions.fixture.ts';

let s3: S3Fixture;
let desk: ComputerDesk;
let worker: ServerProcess;
beforeAll(async () => {
  s3 = await startS3();
  // This process accepts messages and runs nothing: separate workers run them.
  desk = await startComputerDesk({
    ...s3.env,
    VESTRA_FILES_DIRECT: '1',
    VESTRA_ROLE: 'api',
    VESTRA_LEASE_SECONDS: '2',
    VESTRA_HOMES_SAVE_SECONDS: '1',
  });
  worker = await startMachine();
  await desk.apply({ name: 'desk', memory: 'none' });
});
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(() => s3.trouble(() => null));
afterAll(async () => {
  for (let step = cleanUp.pop(); step; step = cleanUp.pop()) await step();
  await desk.stop();
  await s3.stop();
});

/** A worker with a data folder that no other process sees. */
async function startMachine(): Promise<ServerProcess> {
  const { dataDir, remove } = await makeDataDir();
  const { VESTRA_DATA_DIR: _, ...env } = desk.env;
  const started = await startProcess(dataDir, {
    ...env,
    DATABASE_URL: desk.connectionString,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    VESTRA_ROLE: 'worker',
  });
  cleanUp.push(remove, () => started.kill('SIGKILL'));
  return started;
}

function form(text: string, filename = 'note.html'): FormData {
  const made = new FormData();
  made.set('file', new File([text], filename));
  return made;
}

const upload = (text: string, search = '', headers: Record<string, string> = {}) =>
  desk.call('POST', `/v1/files${search}`, { raw: form(text), headers });
const rows = () => desk.sql('SELECT id FROM files');
const unused = () => desk.sql('SELECT name FROM unused_contents');
const away = () => s3.trouble(() => ({ answer: 503, code: 'SlowDown' }));

describe('files in a bucket', () => {
  it('are downloaded from it by an address that is signed for each download and never contains a credential [STORE-007]', async () => {
    const { body } = await upload('<script>1</script>');
    const { download_url } = (await desk.call('GET', `/v1/files/${body.id}`)).body;
    const redirect = await fetch(download_url, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('referrer-policy')]).toEqual([302, 'no-referrer']);
    const location = redirect.headers.get('location') as string;
    expect(location).toContain('X-Amz-Expires=60');
    const answer = await fetch(location);
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'application/octet-stream',
      '<script>1</script>',
    ]);
    expect((await fetch(download_url.replace(/signature=./, 'signature=!'), { redirect: 'manual' })).status).toBe(404);
    await desk.call('DELETE', `/v1/files/${body.id}`);
    expect((await fetch(location)).status).toBe(404);
  });

  it('are refused with 503 while the bucket is unreachable or full, leave no partial record, and are accepted afterwards [STORE-005]', async () => {
    const headers = { 'idempotency-key': 'upload-while-away' };
    const before = await rows();
    away();
    const refused = await upload('while away', '', headers);
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'not_ready',
      '5',
    ]);
    s3.trouble(() => ({ answer: 507, code: 'InsufficientStorage' }));
    const full = await upload('while full');
    expect([full.status, full.body.error.message]).toEqual([503, expect.stringContaining('no room left')]);
    expect(await rows()).toEqual(before);
    expect(await unused()).toHaveLength(2);
    s3.trouble(() => null);
    const taken = await upload('while away', '', headers);
    expect(taken.status).toBe(201);
    expect((await upload('while away', '', headers)).body.id).toBe(taken.body.id);
    expect(await unused()).toHaveLength(1);
  });

  it('are deleted while the bucket is unreachable, and their bytes when it is back [STORE-008]', async () => {
    const { body } = await upload('to be deleted');
    const [{ sha256 }] = (await desk.sql('SELECT sha256 FROM files WHERE id = $1', [body.id])) as [{ sha256: string }];
    const key = `/${desk.orgId}/${sha256.slice(0, 2)}/${sha256}`;
    away();
    expect((await desk.call('DELETE', `/v1/files/${body.id}`)).status).toBe(200);
    expect(await desk.sql('SELECT FROM unused_contents WHERE name = $1', [sha256])).toHaveLength(1);
    s3.trouble(() => null);
    // The same bytes again, before anybody has cleared them away.
    const again = await upload('to be deleted');
    expect(await desk.sql('SELECT FROM unused_contents WHERE name = $1', [sha256])).toEqual([]);
    await desk.call('DELETE', `/v1/files/${again.body.id}`);
    expect(s3.seen.filter(({ method, url }) => method === 'DELETE' && url.endsWith(key)).at(-1)?.status).toBe(204);
  });

  it('that a task cannot save are reported to the agent, which saves them later [STORE-009]', async () => {
    let saves = 0;
    s3.trouble(({ method, url }) =>
      method === 'PUT' && !url.includes('home') && saves++ < 4 ? { answer: 503 } : null,
    );
    const output = { filename: 'report.md', content: '# Report' };
    const { results } = await desk.calls({ user_id: 'ada' }, ['save_output', output], ['save_output', output]);
    expect(results).toEqual([
      'The file store is unreachable. Try again shortly.',
      expect.stringMatching(/^Saved as report\.md/),
    ]);
  });
});

describe('computers without a shared disk', () => {
  it('lose at most unsaved files when their machine is killed, and wake on any machine [STORE-015]', async () => {
    desk.script(
      inTurn(
        calling('run_command', {
          command: 'mkdir -p work; echo kept >work/saved; ln -s work/saved link; hostname >>log',
        }),
        calling('run_command', { command: `sleep 47${process.pid}`, timeout_s: 600 }),
        calling('run_command', { command: 'cat work/saved link; wc -l <log' }),
        { text: 'Done.' },
      ),
    );
    const body = { user_id: 'bea', message: 'Work', hand_off: 'always' };
    const { id } = (await desk.call('POST', '/v1/conversations', { body })).body;
    const saved = () => desk.sql("SELECT saved_name, epoch FROM computers WHERE user_key = 'bea'");
    await expect.poll(async () => (await saved())[0]?.saved_name ?? null, { timeout: 60_000 }).not.toBeNull();
    const [before] = await saved();
    await expect.poll(() => desk.asked.length, { timeout: 60_000 }).toBeGreaterThan(1);
    // Saved again, with what the first command has written, while the second one runs.
    await expect.poll(async () => (await saved())[0].saved_name, { timeout: 60_000 }).not.toBe(before.saved_name);
    await worker.kill('SIGKILL');
    // Instead of waiting for it to run out.
    await desk.sql('UPDATE computers SET held_until = now()');
    await startMachine();
    await expect
      .poll(async () => (await desk.call('GET', `/v1/conversations/${id}`)).body.status, { timeout: 90_000 })
      .toBe('idle');
    expect(resultsIn(desk.asked.at(-1)).join('\n')).toMatch(/outcome is unknown[\s\S]*stdout:\nkept\nkept\n1\n/);
    expect(Number((await saved())[0].epoch)).toBeGreaterThan(Number(before.epoch));
  }, 240_000);
});
