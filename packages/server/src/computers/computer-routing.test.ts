import { newId } from '@vestra/contract/ids';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { insertOrg } from '../account/orgs/store.ts';
import { type CallProcess, PeerLost, PeerUnreachable } from '../platform/cluster/process-calls.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { createComputerHosts, createComputerRouting } from './computer-routing.ts';
import { createComputers } from './running-computer.ts';
import { holdComputer, type Owner, renewHost } from './store.ts';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let db: Database;
let orgId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  orgId = newId('org');
  await insertOrg(db, { id: orgId, name: 'Org', wrapped_data_key: Buffer.from('x') });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

let users = 0;
const newOwner = (): Owner => ({ orgId, mode: 'test', userId: `user-${++users}` });
const never = new AbortController().signal;
const noPlace = async () => ({ home: '' }) as never;
const address = 'http://10.9.9.9:4600';

/** One process among several. `ask` plays the others. */
function newProcess(ask: CallProcess, { isHost = true } = {}) {
  const computers = createComputers({ db, log, address: () => 'http://here', makeFolders: noPlace });
  return { computers, ...createComputerRouting({ db, computers, hosts: createComputerHosts(db), isHost, ask, log }) };
}

const answering = (...messages: unknown[]): CallProcess =>
  async function* () {
    yield* messages;
  };
const failing = (error: Error, before: () => unknown = () => {}): CallProcess =>
  // biome-ignore lint/correctness/useYield: it fails before it says anything.
  async function* () {
    await before();
    throw error;
  };
const heldBy = (id: string, owner: Owner, leaseMs = 60_000) =>
  holdComputer(db, owner, { holder: id, address, leaseMs });

describe('an operation on a computer', () => {
  it('runs here if the computer sleeps, and in the process where it is awake otherwise [MANY-001]', async () => {
    const owner = newOwner();
    const { route, computers, isAwake } = newProcess(answering({ kind: 'runs' }, { kind: 'done', answer: 'there' }));
    const work = route('x', (of) => computers.use(of, async () => 'here'));
    const asleep = route('y', async () => 'done', { ifAsleep: () => 'asleep' });
    expect([await isAwake(owner), await asleep(owner, null, never)]).toEqual([false, 'asleep']);
    expect(await work(owner, null, never)).toBe('here');
    expect([await isAwake(owner), await asleep(owner, null, never)]).toEqual([true, 'done']);
    const other = newOwner();
    await heldBy('another', other);
    expect(await work(other, null, never)).toBe('there');
    await computers.stop();
  });

  it('is refused with the error of the other process', async () => {
    const owner = newOwner();
    await heldBy('another', owner);
    const details = { message: 'A person is using it.', retry_after_ms: 1_000 };
    const { route } = newProcess(answering({ kind: 'failed', code: 'browser_in_use', details }));
    await expect(route('x', async () => 'here')(owner, null, never)).rejects.toMatchObject({
      code: 'browser_in_use',
      status: 409,
      details,
    });
  });

  it('follows a computer that moved between the lookup and the call', async () => {
    const owner = newOwner();
    await heldBy('another', owner);
    const release = () => run(db, sql`UPDATE computers SET held_by = NULL WHERE user_key = ${owner.userId}`);
    const { route, computers } = newProcess(async function* () {
      await release();
      yield { kind: 'elsewhere' };
    });
    expect(await route('x', (of) => computers.use(of, async () => 'here'))(owner, null, never)).toBe('here');
    await computers.stop();
  });

  it('runs here after the lease of a dead process has ended [MANY-002]', async () => {
    const owner = newOwner();
    await heldBy('dead', owner, 400);
    const { route, computers } = newProcess(failing(new PeerUnreachable('ECONNREFUSED')));
    expect(await route('x', (of) => computers.use(of, async () => 'here'))(owner, null, never)).toBe('here');
    await computers.stop();
  });

  it('fails with the reason if the process lives but cannot be reached [MANY-007]', async () => {
    const owner = newOwner();
    await heldBy('far', owner);
    const lives = () =>
      run(db, sql`UPDATE computers SET held_until = held_until + interval '4 s' WHERE held_by = 'far'`);
    const { route } = newProcess(failing(new PeerUnreachable('ECONNREFUSED'), lives));
    const call = route('x', async () => 'here')(owner, null, never);
    await expect(call).rejects.toMatchObject({ code: 'computer_unavailable', status: 503 });
    await expect(call).rejects.toThrow(
      /cannot reach at http:\/\/10\.9\.9\.9:4600 \(ECONNREFUSED\).*VESTRA_INTERNAL_URL/,
    );
  });

  it('is not repeated if the connection breaks in the middle [MANY-006]', async () => {
    const owner = newOwner();
    await heldBy('another', owner);
    let calls = 0;
    const { route } = newProcess(failing(new PeerLost('ECONNRESET'), () => ++calls));
    const call = route('x', async () => 'here')(owner, null, never);
    await expect(call).rejects.toThrow(/Whether it took effect is unknown/);
    expect(calls).toBe(1);
  });

  it('is redirected if this process does not have the computer [MANY-001]', async () => {
    const owner = newOwner();
    await heldBy('another', owner);
    const { route, answer } = newProcess(answering());
    route('x', async () => 'here');
    const told = async (of: Owner) => {
      const messages: unknown[] = [];
      for await (const message of answer('x', { owner: of, given: null }, never)) messages.push(message);
      return messages;
    };
    expect(await told(owner)).toEqual([{ kind: 'elsewhere' }]);
    expect(await told(newOwner())).toEqual([{ kind: 'done', answer: 'here' }]);
  });
});

describe('a process without computers [MANY-008]', () => {
  it('reports that there is no host, or lets the same host wake the computer of an owner each time', async () => {
    const asked: string[] = [];
    const process = () =>
      newProcess(
        async function* (peer) {
          asked.push(peer.id);
          if (peer.id === 'gone') throw new PeerUnreachable('ECONNREFUSED');
          yield { kind: 'done', answer: 'there' };
        },
        { isHost: false },
      ).route('x', async () => 'here');
    await expect(process()(newOwner(), null, never)).rejects.toThrow(/No process of this server has computers/);
    for (const id of ['one', 'two', 'gone']) await renewHost(db, { id, address, hasBrowser: true }, 60_000);
    const work = process();
    // Each owner has one of the two by chance.
    const owners = Array.from({ length: 50 }, newOwner);
    const first: (string | undefined)[] = [];
    for (const owner of owners) {
      expect(await work(owner, null, never)).toBe('there');
      first.push(asked.at(-1));
    }
    for (const [at, owner] of owners.entries()) {
      await work(owner, null, never);
      expect(asked.at(-1)).toBe(first[at]);
    }
    expect(new Set(first)).toEqual(new Set(['one', 'two']));
    expect(asked).toContain('gone');
  });
});
