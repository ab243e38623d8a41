import { type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { type ComputerDesk, startComputerDesk } from './computer.fixture.ts';
import {
  createRuns,
  faultsOf,
  lineItemsOf,
  logOf,
  type OpenRun,
  type Runs,
  type State,
  states,
  tools,
} from './run-ends.fixture.ts';

const payForm = '<h1>Pay</h1><label>Card number <input autocomplete="cc-number"></label>';

let sites: Sites;
beforeAll(async () => {
  sites = await startSites();
  sites.serve('shop.localhost', { '/pay': payForm, '/other': '<title>Other</title>' });
});
afterAll(() => sites.close());
const shop = (path: string) => sites.at('shop.localhost', path);

type Code = string | null;
type Key = { id: string; key: string };
type End = {
  name: string;
  deployment?: Record<string, unknown>;
  /** Ends the runs: `release` lets one continue until it ends by itself. */
  end: (runs: readonly OpenRun[], deployment: string, key: Key | undefined) => Promise<void>;
  /** The key that starts the runs. */
  key?: () => Promise<Key>;
  /** The error of the turn and of the task. */
  error: { turn: Code; task: Code; message?: string };
  /** The model hangs, and the run does not end by itself. */
  hangs?: boolean;
  asksFirst?: boolean;
  goesOn?: boolean;
  /** Before the next message can be sent. */
  restore?: (run: OpenRun) => Promise<void>;
  /** The answer to the next message, unless the agent replies. */
  next?: string;
  /** States in which a run cannot end this way, and why. */
  impossible?: Partial<Record<State, string>>;
};

describe('a run that ends', () => {
  let desk: ComputerDesk;
  let runs: Runs;
  beforeAll(async () => {
    desk = await startComputerDesk();
    runs = createRuns(desk, shop('/pay'));
    await desk.apply({ name: 'other', memory: 'none', browser: { allowed_domains: ['shop.localhost'] } });
  });
  afterAll(() => desk.stop());

  const change = async (method: string, path: string, body?: unknown) => {
    const answer = await desk.call(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  const each = <T>(all: readonly OpenRun[], work: (run: OpenRun) => Promise<T>) => Promise.all(all.map(work));
  const idle = (run: OpenRun) => desk.rest(run.id);

  const ends: End[] = [
    {
      name: 'because it is finished',
      end: async (all) => void (await each(all, (run) => run.release())),
      error: { turn: null, task: null },
    },
    {
      name: 'because a person stops it',
      hangs: true,
      end: async (all) => void (await each(all, (run) => change('POST', `/v1/conversations/${run.id}/stop`))),
      error: { turn: null, task: 'stopped', message: 'The work was stopped.' },
    },
    {
      name: 'at its time limit',
      deployment: { limits: { max_minutes: 1 } },
      hangs: true,
      asksFirst: true,
      async end(all) {
        // Waiting takes no time: these reach the limit when they continue, the others in the middle of a call.
        await each(all, async (run) => {
          const isWaiting = ['tool call', 'open question', 'approval'].includes(run.state);
          if (isWaiting) {
            await runs.answerAll(run.id);
            await desk.open(run.id);
          }
          const table = run.isTask ? 'tasks' : 'turns';
          const used = isWaiting ? 60_000 : 54_000;
          await runs.sql(`UPDATE ${table} SET active_ms = $2 WHERE id = $1`, [run.taskId ?? run.turnId, used]);
          await runs.answerAll(run.id);
        });
        await each(all, idle);
      },
      error: { turn: 'max_turns', task: 'max_turns', message: 'The limit of 1 minute was reached.' },
      impossible: { queued: 'A reply that has not begun has used no time.' },
    },
    {
      name: 'at its step limit',
      deployment: { limits: { max_steps: 3 } },
      goesOn: true,
      end: async (all) => void (await each(all, (run) => run.release())),
      error: { turn: 'max_turns', task: 'max_turns', message: 'The limit of 3 steps was reached.' },
    },
    {
      name: 'at its budget',
      goesOn: true,
      async end(all) {
        await each(all, (run) => change('PATCH', `/v1/users/${run.user}`, { spend_cap_usd: 0 }));
        await each(all, (run) => run.release());
      },
      error: { turn: 'max_budget', task: 'max_budget' },
      restore: (run) => change('PATCH', `/v1/users/${run.user}`, { spend_cap_usd: null }),
    },
    {
      name: 'because its user is disabled',
      hangs: true,
      async end(all) {
        await each(all, async (run) => {
          const { data } = await change('GET', `/v1/interactions?conversation_id=${run.id}`);
          await change('PATCH', `/v1/users/${run.user}`, { status: 'disabled' });
          for (const { id } of data) {
            for (const path of ['answer', 'cancel']) {
              const refused = await desk.call('POST', `/v1/interactions/${id}/${path}`, { body: {} });
              expect([refused.status, refused.body.error.code]).toEqual([403, 'user_disabled']);
            }
          }
        });
        await each(all, idle);
      },
      error: { turn: 'user_disabled', task: 'user_disabled', message: 'The user was disabled.' },
      restore: (run) => change('PATCH', `/v1/users/${run.user}`, { status: 'active' }),
    },
    {
      name: 'because its deployment is deleted',
      hangs: true,
      async end(all, deployment) {
        await change('DELETE', `/v1/deployments/${deployment}`);
        await each(all, idle);
      },
      error: { turn: 'deployment_deleted', task: 'deployment_deleted', message: 'The deployment was deleted.' },
      next: '409 deployment_deleted',
    },
    {
      name: 'after its key was revoked',
      key: async () => change('POST', '/v1/keys', { name: 'short', scopes: ['runtime'] }),
      async end(all, _deployment, key) {
        const sessions: { token: string; conversation_id: string }[] = await each(all, async (run) => {
          const body = { conversation_id: run.id, chat: true };
          return (await desk.call('POST', '/v1/sessions', { key: key?.key ?? '', body })).body;
        });
        await change('DELETE', `/v1/keys/${key?.id}`);
        for (const { token, conversation_id } of sessions) {
          const refused = await desk.call('GET', `/v1/conversations/${conversation_id}`, { key: token });
          expect([refused.status, refused.body.error.code]).toEqual([401, 'session_revoked']);
        }
        await each(all, (run) => run.release());
      },
      error: { turn: null, task: null },
    },
  ];

  it.each(ends.map((end, at) => [end.name, end, at] as const))(
    '%s: charged, closed, told and known [RUN-700, RUN-701, RUN-702, RUN-704]',
    async (_name, end, at) => {
      const deployment = `ending-${at}`;
      await desk.apply({ name: deployment, memory: 'none', tools, ...end.deployment });
      const key = await end.key?.();
      const possible = states.filter((state) => end.impossible?.[state] === undefined);
      const all = await Promise.all(
        possible.map((state, number) =>
          runs.open({
            state,
            deployment,
            user: `end-${at}-${number}`,
            ...(key && { key: key.key }),
            hangs: end.hangs ?? false,
            asksFirst: end.asksFirst ?? false,
            goesOn: end.goesOn ?? false,
          }),
        ),
      );
      await end.end(all, deployment, key);
      const faults = await Promise.all(
        all.map(async (run) => [run.state, [...(await faultsOf(desk, run.id)), ...(await check(run, end))]] as const),
      );
      expect(Object.fromEntries(faults.filter(([, found]) => found.length > 0))).toEqual({});
    },
    240_000,
  );

  it('because its user is erased: charged and closed [RUN-700]', async () => {
    await desk.apply({ name: 'erasing', memory: 'none', tools });
    const all = await Promise.all(
      states.map((state, number) =>
        runs.open({
          state,
          deployment: 'erasing',
          user: `erased-${number}`,
          hangs: true,
          asksFirst: false,
          goesOn: false,
        }),
      ),
    );
    await each(all, (run) => change('DELETE', `/v1/users/${run.user}`));
    await each(all, (run) =>
      expect.poll(() => runs.sql('SELECT FROM users WHERE id = $1', [run.user]), { timeout: 60_000 }).toEqual([]),
    );
    const left = await Promise.all(
      all.map(async (run) => {
        const charged = await runs.sql(
          'SELECT DISTINCT kind, is_estimated FROM ledger_entries WHERE conversation_id = $1',
          [run.id],
        );
        const held = await runs.sql('SELECT FROM reservations WHERE run_id IN ($1, $2)', [run.turnId, run.taskId]);
        const isCharged = ['command', 'browser page'].includes(run.state)
          ? charged.some(({ kind }) => kind === 'compute')
          : charged.some(({ is_estimated }) => is_estimated) || /tool call|question|approval/.test(run.state);
        const { status } = await desk.call('GET', `/v1/conversations/${run.id}`);
        return [run.state, { isCharged, status, held: held.length, isRunning: await runs.isRunning(run) }];
      }),
    );
    expect(left).toEqual(states.map((state) => [state, { isCharged: true, status: 404, held: 0, isRunning: false }]));
  }, 240_000);

  it('because its message was accepted while its user was disabled or its deployment deleted [RUN-706]', async () => {
    await desk.apply({ name: 'leaving', memory: 'none', tools });
    await desk.apply({ name: 'staying', memory: 'none', tools });
    const begin = (deployment: string, user: string) =>
      runs.open({ state: 'open question', deployment, user, hangs: false, asksFirst: false, goesOn: false });
    const races = [
      {
        run: await begin('staying', 'leaving-user'),
        close: () => change('PATCH', '/v1/users/leaving-user', { status: 'disabled' }),
        job: 'user.stop',
        code: 'user_disabled',
      },
      {
        run: await begin('leaving', 'staying-user'),
        close: () => change('DELETE', '/v1/deployments/leaving'),
        job: 'deployment.stop',
        code: 'deployment_deleted',
      },
    ];
    await each(
      races.map(({ run }) => run),
      (run) => run.release(),
    );
    for (const { run, close, job } of races) {
      // The message has passed every check, and waits for the money before it is committed.
      const blocker = new pg.Client({ connectionString: desk.connectionString });
      await blocker.connect();
      await blocker.query('BEGIN');
      await blocker.query('LOCK TABLE reservations IN SHARE MODE');
      const [cell] = (await firstMessage(run.id)).split(']');
      const sent = desk.call('POST', `/v1/conversations/${run.id}/messages`, { body: { message: `${cell}] Again` } });
      const waiting = `SELECT FROM pg_locks AS waits JOIN pg_locks AS holds USING (pid)
        WHERE waits.relation = 'reservations'::regclass AND NOT waits.granted
          AND holds.relation = 'conversations'::regclass AND holds.mode = 'RowExclusiveLock'`;
      await expect.poll(() => runs.sql(waiting), { timeout: 60_000 }).toHaveLength(1);
      await close();
      const jobsLeft = () => runs.sql('SELECT FROM jobs WHERE name = $1', [job]);
      await expect.poll(jobsLeft, { timeout: 60_000 }).toEqual([]);
      await blocker.query('COMMIT');
      await blocker.end();
      expect((await sent).status).toBe(202);
    }
    for (const { run, code } of races) {
      await desk.rest(run.id);
      const settled = (await logOf(desk, run.id)).filter(({ type }) => type === 'turn.settled');
      expect([settled.length, settled.at(-1)?.data.turn.error?.code]).toEqual([2, code]);
      expect(await faultsOf(desk, run.id)).toEqual([]);
    }
  }, 240_000);

  /** The faults in the reason, the charges, the page, the command and the next reply. */
  async function check(run: OpenRun, end: End): Promise<string[]> {
    const faults: string[] = [];
    const expected = (what: string, found: unknown, wanted: unknown) =>
      JSON.stringify(found) === JSON.stringify(wanted) ||
      faults.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
    const log = await logOf(desk, run.id);
    const { error } = end;
    const message = (code: Code, of: { code: string; message: string } | null) =>
      of && [code, error.message ?? of.message];
    const settled = log.filter(({ type }) => type === 'turn.settled').map(({ data }) => data.turn);
    for (const turn of settled) {
      expected(
        `error of ${turn.id}`,
        turn.error && [turn.error.code, turn.error.message],
        message(error.turn, turn.error),
      );
      if (error.turn !== null) expected('the turn has an error', turn.error !== null, true);
    }
    const task = run.taskId && (await change('GET', `/v1/tasks/${run.taskId}`));
    if (task) {
      expected(
        'error of the task',
        task.error && [task.error.code, task.error.message],
        message(error.task, task.error),
      );
      expected('status of the task', task.status, error.task === null ? 'done' : 'failed');
      const stopped = log.find(({ type }) => type === 'task.stopped')?.data;
      if (error.turn !== null) expected('reason', [stopped?.reason, stopped?.message], message(error.task, task.error));
    }

    const items = await lineItemsOf(desk, run.id);
    const isCut = end.hangs === true && end.asksFirst !== true;
    if (isCut && (run.state.startsWith('model call') || run.state === 'browser page' || run.state === 'queued')) {
      expected('the call in flight is charged', items.filter(({ estimated }) => estimated).length > 0, true);
    }
    if (run.state === 'command' || run.state === 'browser page') {
      expected('seconds of the computer', items.filter(({ kind }) => kind === 'compute').length > 0, true);
    }
    if (run.state === 'command') {
      await expect.poll(() => runs.isRunning(run), { message: 'the command ends' }).toBe(false);
    }

    await end.restore?.(run);
    if (run.state === 'browser page') {
      const fetchOther = () =>
        desk.call('POST', `/v1/users/${run.user}/browser/fetch`, {
          body: { url: shop('/other'), deployment: 'other' },
        });
      // The page is closed after the run has ended.
      await expect
        .poll(async () => (await fetchOther()).status, { timeout: 30_000 })
        .toBe(200)
        .catch(() => {});
      const fetched = await fetchOther();
      expected('the browser is free', [fetched.status, fetched.body.error?.message], [200, undefined]);
    }
    const sent = await desk.call('POST', `/v1/conversations/${run.id}/messages`, {
      body: { message: `${log.length && '[later]'} ${(await firstMessage(run.id)).split(']')[0]}]` },
      headers: { prefer: 'wait=60' },
    });
    expected(
      'the next message',
      [sent.status, sent.body.error?.code ?? sent.body.reply?.text].join(' '),
      end.next ?? '200 I see.',
    );
    if (end.next === undefined) {
      const read = JSON.stringify(run.asked.at(-1)?.messages);
      const known =
        error.task === null
          ? 'Done.'
          : task
            ? `ended without a result. ${task.error.message}`
            : 'This reply was stopped here';
      expected('the next reply knows', read.includes(known) || read, true);
    }
    return faults;
  }

  const firstMessage = async (id: string): Promise<string> =>
    (await change('GET', `/v1/conversations/${id}/messages?limit=100`)).data.at(-1).text;
});

describe('a run whose process is killed', () => {
  /** It accepts messages and runs nothing: the runs are in a process beside it. */
  let desk: ComputerDesk;
  let data: Awaited<ReturnType<typeof makeDataDir>>;
  let worker: ServerProcess | undefined;
  beforeAll(async () => {
    desk = await startComputerDesk({ VESTRA_ROLE: 'api' });
    data = await makeDataDir();
    await desk.apply({ name: 'killed', memory: 'none', tools });
  });
  afterAll(async () => {
    await worker?.kill('SIGTERM');
    await desk.stop();
    await data.remove();
  });
  const startWorker = async () => {
    worker = await startProcess(data.dataDir, {
      ...desk.env,
      VESTRA_ROLE: 'worker',
      DATABASE_URL: desk.connectionString,
      VESTRA_MASTER_KEY: 'ab'.repeat(32),
      // Long enough that a slow machine takes nobody for dead who is not.
      VESTRA_LEASE_SECONDS: '8',
    });
  };

  it('continues in another one: charged once, closed, told and finished [RUN-700]', async () => {
    const runs = createRuns(desk, shop('/pay'));
    await startWorker();
    const all = await Promise.all(
      states.map((state, number) =>
        runs.open({
          state,
          deployment: 'killed',
          user: `killed-${number}`,
          hangs: false,
          asksFirst: false,
          goesOn: false,
        }),
      ),
    );
    await worker?.kill('SIGKILL');
    await startWorker();
    await Promise.all(all.map((run) => run.release()));
    const faults = await Promise.all(
      all.map(async (run) => {
        const settled = (await logOf(desk, run.id)).filter(({ type }) => type === 'turn.settled');
        const errors = settled
          .filter(({ data: { turn } }) => turn.error !== null)
          .map(({ data: { turn } }) => turn.error);
        const isLeft = await runs.isRunning(run);
        return [run.state, [...(await faultsOf(desk, run.id)), ...errors, ...(isLeft ? ['a command is left'] : [])]];
      }),
    );
    expect(Object.fromEntries(faults.filter(([, found]) => found?.length))).toEqual({});
  }, 240_000);
});
