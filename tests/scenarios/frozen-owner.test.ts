import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { cleanups } from '../../packages/server/src/platform/outbound/loopback.fixture.ts';
import { type AgentServer, type Respond, startAgentServer } from '../support/agent.ts';
import { cast, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { door } from './conversations.fixture.ts';

/** It takes messages and runs nothing: what runs, runs in the workers beside it. */
let server: AgentServer;
let hook: Server;
/** Runs before the hook approves next. */
let hookWaits = () => Promise.resolve();
let closeTools: (() => unknown)[];
let toolCalls = 0;
/** Result of the tool by the number of calls so far. */
let toolSays: (call: number) => Promise<string> | string = () => 'Found.';
beforeAll(async () => {
  hook = createServer(async (_request, response) => {
    await hookWaits();
    response.end('{"allow":true}');
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const offered = [
    tool('find', { description: 'Finds.', annotations: { readOnlyHint: true } }),
    tool('store', { description: 'Puts away.' }),
  ];
  const { url } = await serveMcp('2026', offered, {
    call: async () => {
      toolCalls += 1;
      return { content: [{ type: 'text', text: await toolSays(toolCalls) }] };
    },
  });
  // Whatever stays in that list is closed after the next test.
  closeTools = cleanups.splice(0);
  server = await startAgentServer({
    env: {
      VESTRA_ROLE: 'api',
      OPENAI_COMPATIBLE_PRICE: '1.00,4.00',
      VESTRA_POLICY_HOOK_URL: `http://127.0.0.1:${(hook.address() as AddressInfo).port}`,
    },
  });
  const tools = [{ mcp: url, name: 'shop', run_without_asking: ['find', 'store'] }];
  await server.apply({ name: 'desk', memory: 'none', tools });
});
afterAll(async () => {
  await server.stop();
  hook.closeAllConnections();
  hook.close();
  await once(hook, 'close');
  for (const close of closeTools.reverse()) await close();
});

const workers: TestServer[] = [];
afterEach(async () => {
  hookWaits = () => Promise.resolve();
  toolSays = () => 'Found.';
  for (let worker = workers.pop(); worker; worker = workers.pop()) await worker.stop();
});

async function startWorker(runs: { leaseMs: number; renewEveryMs: number }) {
  const env = { ...server.env, VESTRA_ROLE: 'worker' };
  const worker = await startTestServer({ beside: server, env, runs: { ...runs, sweepEveryMs: 50 } });
  workers.push(worker);
  return worker;
}
const startHealthy = () => startWorker({ leaseMs: 60_000, renewEveryMs: 1_000 });
/** Gives no sign of life: its lease runs out, and it does not learn from a renewal that it was taken over. */
const startFrozen = () => startWorker({ leaseMs: 1, renewEveryMs: 3_600_000 });

type Asked = { hand_off?: 'auto' | 'always'; output_schema?: unknown };

async function begin(asked: Asked): Promise<string> {
  const answer = await server.call('POST', '/v1/conversations', { body: { message: 'Look', ...asked } });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.id;
}

const sql = <Row extends Record<string, unknown>>(text: string, id: string) =>
  query<Row>(server.connectionString, text, [id]);

/** All that a run leaves behind in its conversation, without what is new each time. */
async function effectsOf(id: string) {
  const runs = `(SELECT id FROM turns WHERE conversation_id = $1 UNION SELECT id FROM tasks WHERE conversation_id = $1)`;
  return {
    messages: await sql('SELECT role, text, data FROM messages WHERE conversation_id = $1 ORDER BY id', id),
    events: await sql('SELECT seq, type FROM conversation_events WHERE conversation_id = $1 ORDER BY seq', id),
    steps: await sql(
      `SELECT step_index, kind, text, input_tokens, cost_micros FROM run_steps WHERE run_id IN ${runs} ORDER BY run_id, step_index`,
      id,
    ),
    calls: await sql(
      `SELECT step_index, position, name, output, is_error FROM run_calls WHERE run_id IN ${runs} ORDER BY run_id, step_index, position`,
      id,
    ),
    charges: await sql(
      'SELECT account, kind, unit, quantity, amount_micros FROM ledger_entries WHERE conversation_id = $1 ORDER BY account, kind, unit, amount_micros',
      id,
    ),
    interactions: await sql('SELECT kind, status FROM interactions WHERE conversation_id = $1', id),
    turns: await sql('SELECT state, reply_text, error_code FROM turns WHERE conversation_id = $1', id),
    tasks: await sql('SELECT status, result_text, error_code FROM tasks WHERE conversation_id = $1', id),
    told: await sql(`SELECT type FROM events WHERE data ->> 'conversation_id' = $1 ORDER BY id`, id),
    owners: await sql(`SELECT id FROM runs WHERE id IN ${runs}`, id),
  };
}

const cameToRest = (id: string) =>
  server.until(`/v1/conversations/${id}`, ({ status }) => status === 'idle' || status === 'waiting');

/** The result of the same conversation without a frozen worker. */
async function undisturbed(asked: Asked, respond: Respond) {
  await startHealthy();
  server.script(respond);
  const id = await begin(asked);
  await cameToRest(id);
  const effects = await effectsOf(id);
  await workers.pop()?.stop();
  return effects;
}

/**
 * One worker freezes at `frozen`, another resumes the run, and the first wakes up: either while the other works or
 * after it has ended.
 */
async function takenOver(
  asked: Asked,
  wakes: 'meanwhile' | 'afterwards',
  {
    reached,
    wake,
    successorReached,
    goOn,
  }: Record<'reached' | 'successorReached', () => Promise<void>> & Record<'wake' | 'goOn', () => void>,
): Promise<string> {
  const frozen = await startFrozen();
  const id = await begin(asked);
  await reached();
  // It takes no further job, and its current run continues while it hangs.
  workers.pop();
  const over = frozen.stop();
  await sql(`DELETE FROM jobs WHERE name IN ('turn.run', 'task.run') AND $1 <> ''`, id);
  await startHealthy();
  await successorReached();
  if (wakes === 'meanwhile') {
    const before = await effectsOf(id);
    wake();
    await over;
    // Check now: the next write of the other worker could hide it.
    expect(await effectsOf(id)).toEqual(before);
    goOn();
    await cameToRest(id);
    return id;
  }
  goOn();
  await cameToRest(id);
  wake();
  await over;
  return id;
}

/** The model hangs in the first run. In the resumed run it answers with `respond` when released. */
async function takenOverAtModel(asked: Asked, wakes: 'meanwhile' | 'afterwards', late: Respond, respond: Respond) {
  const [frozen, successor] = [door(), door()];
  let count = 0;
  server.script(async (request) => {
    count += 1;
    if (count === 1) {
      await frozen.opened;
      return late(request);
    }
    if (count === 2) await successor.opened;
    return respond(request);
  });
  const wasAsked = (times: number) => () => expect.poll(() => count, { timeout: 30_000 }).toBeGreaterThanOrEqual(times);
  return takenOver(asked, wakes, {
    reached: wasAsked(1),
    wake: frozen.open,
    successorReached: wasAsked(2),
    goOn: successor.open,
  });
}

const usage = { inputTokens: 1_000, outputTokens: 100 };
const schema = { type: 'object', properties: { by: { type: 'string' } }, required: ['by'] };
const structured = { output_schema: schema };
const says =
  (by: string): Respond =>
  () => ({ text: JSON.stringify({ by }), usage });
const calls =
  (name: string): Respond =>
  (request) =>
    resultsIn(request).length > 0 ? { text: 'Done.', usage } : { calls: [{ name, arguments: {} }], usage };
const asks: Respond = () => ({ calls: [{ name: 'ask_question', arguments: { question: 'Which?' } }], usage });

const cases = {
  'a reply with data': { asked: structured, late: says('the frozen'), respond: says('the other') },
  'a task': { asked: { hand_off: 'always' }, late: says('the frozen'), respond: says('the other') },
  'a task that calls a tool': {
    asked: { hand_off: 'always' },
    late: calls('mcp__shop__store'),
    respond: calls('mcp__shop__find'),
  },
  'a task that asks': { asked: { hand_off: 'always' }, late: asks, respond: asks },
} as const;

describe('an owner that froze at its model', () => {
  it.each([
    ['a reply with data', 'meanwhile'],
    ['a reply with data', 'afterwards'],
    ['a task', 'meanwhile'],
    ['a task that calls a tool', 'meanwhile'],
    ['a task that asks', 'afterwards'],
  ] as const)('leaves %s to the process that took it over, if it wakes %s [JOB-221]', async (name, wakes) => {
    const { asked, late, respond } = cases[name];
    const expected = await undisturbed(asked, respond);
    const id = await takenOverAtModel(asked, wakes, late, respond);
    expect(await effectsOf(id)).toEqual(expected);
  });

  it('adds nothing to the text of a reply that streams [JOB-221]', async () => {
    const id = await takenOverAtModel(
      {},
      'meanwhile',
      () => ({ text: ['From the ', 'frozen.'], usage }),
      () => ({ text: 'From the other.', usage }),
    );
    const { messages, events, charges } = await effectsOf(id);
    expect(messages.map(({ text }) => text)).toEqual(['Look', 'From the other.']);
    expect(charges.filter(({ account }) => account === 'spend')).toHaveLength(2);
    expect(events.map(({ seq }) => Number(seq))).toEqual(events.map((_, at) => at + 1));
    const deltas = await sql<{ text: string }>(
      `SELECT data ->> 'text' AS text FROM conversation_events WHERE conversation_id = $1 AND type = 'reply.delta' ORDER BY seq`,
      id,
    );
    expect(deltas.map(({ text }) => text).join('')).toBe('From the other.');
  });
});

describe.each([
  ['a reply', 'auto'],
  ['a task', 'always'],
] as const)('an owner of %s that froze', (_what, hand_off) => {
  it('while a tool worked writes no result over that of the other [JOB-221]', async () => {
    const respond = calls('mcp__shop__find');
    const expected = await undisturbed({ hand_off }, respond);
    const [frozen, successor] = [door(), door()];
    const before = toolCalls;
    toolSays = async (call) => {
      await (call === before + 1 ? frozen : successor).opened;
      return call === before + 1 ? 'From the frozen.' : 'Found.';
    };
    server.script(respond);
    const called = (times: number) => () => expect.poll(() => toolCalls, { timeout: 30_000 }).toBe(before + times);
    const id = await takenOver({ hand_off }, 'meanwhile', {
      reached: called(1),
      wake: frozen.open,
      successorReached: called(2),
      goOn: successor.open,
    });
    expect(await effectsOf(id)).toEqual(expected);
  });

  it('before it touched a tool does not touch it [JOB-222]', async () => {
    const respond = calls('mcp__shop__store');
    const expected = await undisturbed({ hand_off }, respond);
    const [frozen, working] = [door(), door()];
    let asked = 0;
    hookWaits = () => {
      asked += 1;
      return asked === 1 ? frozen.opened : Promise.resolve();
    };
    const before = toolCalls;
    toolSays = async () => {
      await working.opened;
      return 'Found.';
    };
    server.script(respond);
    const id = await takenOver({ hand_off }, 'meanwhile', {
      reached: () => expect.poll(() => asked, { timeout: 30_000 }).toBe(1),
      wake: frozen.open,
      successorReached: () => expect.poll(() => toolCalls, { timeout: 30_000 }).toBe(before + 1),
      goOn: working.open,
    });
    expect(await effectsOf(id)).toEqual(expected);
    expect(toolCalls).toBe(before + 1);
  });
});

describe('a frozen process that plays a test', () => {
  it('writes nothing more to a run that another process took over [TRUN-710]', async () => {
    const player = await startAgentServer({
      env: { OPENAI_COMPATIBLE_PRICE: '1.00,4.00' },
      runs: { leaseMs: 600_000, renewEveryMs: 3_600_000, sweepEveryMs: 50 },
    });
    const update = (change: string, id: string) =>
      query(player.connectionString, `UPDATE runs SET ${change} WHERE id = $1`, [id]);
    const frozen = door();
    try {
      let judged = 0;
      const respond = cast({
        agent: () => ({ text: 'Hello.', usage }),
        judge: async () => {
          judged += 1;
          const isFirst = judged === 1;
          if (isFirst) await frozen.opened;
          return { holds: !isFirst };
        },
      });
      player.script(async (request) => ({ usage, ...(await respond(request)) }));
      await player.apply({ name: 'tested', memory: 'none' });
      const scenario = { name: 'Greets', persona: 'A guest.', goal: 'Hello', success_criteria: ['The agent greets.'] };
      const { status } = await player.call('POST', '/v1/deployments/tested/scenarios', { body: scenario });
      expect(status).toBe(201);
      const { body: run } = await player.call('POST', '/v1/deployments/tested/test-runs', { body: {} });
      await expect.poll(() => judged).toBe(1);
      const [{ conversation_id }] = (await player.call('GET', `/v1/test-runs/${run.id}`)).body.results;
      const questions = () =>
        query(
          player.connectionString,
          `SELECT FROM ledger_entries WHERE account = 'spend' AND kind = 'background' AND conversation_id = $1`,
          [conversation_id],
        );
      const before = (await questions()).length;
      await update(`epoch = nextval('run_epochs'), owner = 'another process'`, run.id);
      frozen.open();
      // The frozen process charges its question, and then knows the verdict.
      await expect.poll(async () => (await questions()).length).toBeGreaterThan(before);
      // The other process dies, and the run is played again.
      await update(`lease_until = now() - interval '1 hour'`, run.id);
      const done = await player.until(`/v1/test-runs/${run.id}`, ({ finished_at }) => finished_at !== null);
      expect(done).toMatchObject({ status: 'passed', resumes: 1, counts: { passed: 1, failed: 0 } });
      expect(done.results).toMatchObject([{ conversation_id, status: 'passed' }]);
      const { body: events } = await player.call('GET', '/v1/events?type=test_run.completed');
      expect(events.data).toHaveLength(1);
    } finally {
      frozen.open();
      await player.stop();
    }
  });
});
