import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../db/sql.ts';
import { byNotificationOnly, type Installation, openInstallation, quick } from './installation.fixture.ts';
import type { Jobs, JobsSettings } from './queue.ts';
import { killWorkers, spawnWorker } from './spawn-worker.fixture.ts';
import { testCatalog } from './test-catalog.fixture.ts';

describe('jobs of a worker process that', { timeout: 60_000 }, () => {
  let installation: Installation;
  let jobs: Jobs<typeof testCatalog>;

  beforeAll(async () => {
    installation = await openInstallation();
    jobs = await installation.jobs(testCatalog, quick);
  });
  afterEach(killWorkers);
  afterAll(() => installation.close());

  it('is killed continue in another one, as often as needed', async () => {
    await jobs.send(installation.db, 'fenced', { run: 'killed' });
    for (const owner of ['first', 'second', 'third']) {
      const worker = await ready(owner, quick);
      const { attempt } = await worker.next('started');
      expect(attempt).toBe(['first', 'second', 'third'].indexOf(owner) + 1);
      worker.signal('SIGKILL');
      await worker.exited;
    }

    const last = await ready('last', quick);
    await last.next('started');
    last.go();
    await last.next('wrote');
    expect(await ownersOf('killed')).toEqual(['last']);
    await expect.poll(() => heldOf('fenced')).toEqual([]);
  });

  it('is frozen continue in another one, and the frozen one writes nothing when it wakes up [JOB-006]', async () => {
    const frozen = await ready('frozen', quick);
    await jobs.send(installation.db, 'fenced', { run: 'frozen' });
    await frozen.next('started');
    frozen.signal('SIGSTOP');

    const successor = await ready('successor', quick);
    expect(await successor.next('started')).toMatchObject({ attempt: 2 });
    successor.go();
    await successor.next('wrote');

    frozen.signal('SIGCONT');
    frozen.go();
    expect(await frozen.next('refused')).toMatchObject({ error: 'RunTakenOver' });
    expect(await ownersOf('frozen')).toEqual(['successor']);
    await expect.poll(() => heldOf('fenced')).toEqual([]);
  });

  it('is frozen stay with its successor when it wakes up', async () => {
    const frozen = await ready('frozen', quick);
    await jobs.send(installation.db, 'fenced', { run: 'both' });
    await frozen.next('started');
    frozen.signal('SIGSTOP');
    const successor = await ready('successor', quick);
    await successor.next('started');

    frozen.signal('SIGCONT');
    expect(await frozen.next('aborted')).toMatchObject({ reason: 'Error: The job was taken over.' });
    frozen.go();
    await frozen.next('refused');
    expect(await heldOf('fenced')).toEqual([true]);

    successor.go();
    await successor.next('wrote');
    expect(await ownersOf('both')).toEqual(['successor']);
    await expect.poll(() => heldOf('fenced')).toEqual([]);
  });

  it('receives SIGTERM are released at once', async () => {
    // Leases and polls are too slow to hand over the job within this test.
    const patient = { ...byNotificationOnly, leaseSeconds: 600 };
    const sender = await installation.jobs(testCatalog, patient);
    const ending = await ready('ending', patient);
    await sender.send(installation.db, 'fenced', { run: 'handed back' });
    await ending.next('started');
    const successor = await ready('successor', patient);

    ending.signal('SIGTERM');
    expect(await successor.next('started')).toMatchObject({ attempt: 2 });
    await ending.exited;
    successor.go();
    await successor.next('wrote');
    expect(await ownersOf('handed back')).toEqual(['successor']);
  });

  async function ready(owner: string, settings: Partial<JobsSettings>) {
    const worker = spawnWorker({ connectionString: installation.connectionString, owner, settings });
    await worker.next('ready');
    return worker;
  }

  async function ownersOf(run: string) {
    const rows = await installation.rows(sql`SELECT owner FROM writes WHERE run = ${run}`);
    return rows.map((row) => row.owner);
  }

  async function heldOf(name: string) {
    const rows = await installation.rows(sql`SELECT is_held FROM jobs WHERE name = ${name}`);
    return rows.map((row) => row.is_held);
  }
});
