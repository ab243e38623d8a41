import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { type ScriptedModelServer, startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { partOf } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { makeDataDir, readCredentials, type ServerProcess, startProcess } from '../support/process.ts';
import { type ApiResponse, call } from '../support/server.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const kills = isLong ? 20 : 3;
const turns = isLong ? 200 : 40;

let dataDir: string;
let remove: () => Promise<void>;
let server: ServerProcess;
let model: ScriptedModelServer;
let shop: Awaited<ReturnType<typeof serveMcp>>;
let key: string;
const touched = new Map<string, number>();

beforeAll(async () => {
  model = await startScriptedModelServer({ respond });
  shop = await serveMcp('2026', [tool('touch'), tool('look', { annotations: { readOnlyHint: true } })], {
    call: async (name, given) => {
      const token = String(given.token);
      if (name === 'touch') touched.set(token, (touched.get(token) ?? 0) + 1);
      await sleep(5);
      return { content: [{ type: 'text', text: `${name} ${token}` }] };
    },
  });
  ({ dataDir, remove } = await makeDataDir());
  server = await start();
  ({ test_key: key } = await readCredentials(dataDir));
  const file = {
    name: 'desk',
    tools: [
      { mcp: shop.url, name: 'shop', run_without_asking: ['touch'] },
      { function: 'act', description: 'Acts on the token.', input: { token: 'string' } },
    ],
  };
  const applied = await send('PUT', '/v1/deployments/desk?promote=now', file);
  expect([applied.status, applied.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
});
afterAll(async () => {
  await server?.kill('SIGTERM');
  await model?.close();
  await remove?.();
});

const start = () =>
  startProcess(dataDir, {
    VESTRA_REQUESTS_PER_MINUTE: '1000000',
    VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    // The short form waits less for what a killed process held.
    ...(!isLong && { VESTRA_LEASE_SECONDS: '5' }),
  });

/** Reads, touches, acts with approval and reports it: each step may be the last before the process dies. */
function respond(request: NormalisedRequest): ScriptedAnswer {
  const judged = respondJudged(request);
  if (judged) return judged;
  const { messages, tools } = request;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[last];
  const token = /token (\S+)/.exec(asked?.role === 'user' ? asked.text : '')?.[1] ?? 'none';
  const steps = messages.slice(last).filter(({ role }) => role === 'tool').length;
  const named = (name: string) => tools.find((each) => each.name.endsWith(name))?.name ?? name;
  const chunkDelayMs = 3;
  switch (steps) {
    case 0:
      return { calls: [{ name: named('look'), arguments: { token } }] };
    case 1:
      return { text: ['One ', 'moment.'], calls: [{ name: named('touch'), arguments: { token } }], chunkDelayMs };
    case 2:
      return { calls: [{ name: 'act', arguments: { token } }] };
    default:
      return { text: ['All ', 'done ', `with ${token}.`], chunkDelayMs };
  }
}

/** The drafts of the judged task, and the verdicts on them. The second draft is not finished before the kill. */
const drafts: number[] = [];
const verdicts: number[] = [];
let hangs = true;
const usage = { inputTokens: 1_000, outputTokens: 1_000 };

function respondJudged(request: NormalisedRequest): ScriptedAnswer | null {
  const read = JSON.stringify(request.messages);
  if (partOf(request) === 'judge') {
    const draft = read.includes('Draft 2') ? 2 : 1;
    verdicts.push(draft);
    const criteria = [{ text: 'Good.', met: draft === 2, reason: `Draft ${draft}.` }];
    return { text: JSON.stringify({ criteria, must_never: [] }), usage };
  }
  if (!read.includes('Write the draft')) return null;
  const draft = read.includes('not met yet') ? 2 : 1;
  drafts.push(draft);
  return draft === 2 && hangs ? { fail: 'hang' } : { text: `Draft ${draft}.`, usage };
}

const send = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> => call(server.url, key, method, path, { ...(body !== undefined && { body }), headers });

/** As a careful client does: again and again until somebody answers. */
async function persist(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<ApiResponse> {
  for (;;) {
    const answer = await send(method, path, body, headers).catch(() => null);
    if (answer && answer.status !== 503) return answer;
    await sleep(50);
  }
}

/** One message, answered in all that it waits for, until its turn has settled. */
async function converse(token: string, progress: { settled: number }): Promise<string> {
  const body = { user_id: `u-${token}`, message: `token ${token}` };
  const made = await persist('POST', '/v1/conversations', body, { 'idempotency-key': token });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const { id } = made.body;
  for (;;) {
    const { body: shown } = await persist('GET', `/v1/conversations/${id}`);
    if (shown.status === 'idle') {
      progress.settled += 1;
      return id;
    }
    for (const { interaction_id } of shown.open_interactions) {
      const yes = { approve: true, present_user: true };
      const answered = await persist('POST', `/v1/interactions/${interaction_id}/answer`, yes);
      expect([200, 409]).toContain(answered.status);
    }
    for (const { call_id } of shown.pending_tool_calls) {
      const answered = await persist('POST', `/v1/interactions/${call_id}/answer`, { output: { ok: token } });
      expect([200, 409]).toContain(answered.status);
    }
    await sleep(30);
  }
}

describe('killed between two rounds of a task with success criteria', () => {
  it('judges no result twice, repeats no finished round and charges each call once [CRIT-708]', async () => {
    const body = { message: 'Write the draft', success_criteria: 'Good.' };
    const { body: made } = await persist('POST', '/v1/conversations', body);
    await expect.poll(() => drafts.length, { timeout: 60_000 }).toBe(2);
    await server.kill('SIGKILL');
    hangs = false;
    server = await start();
    const settled = async () => (await persist('GET', `/v1/conversations/${made.id}`)).body.status;
    await expect.poll(settled, { timeout: 120_000 }).toBe('idle');
    const { body: list } = await persist('GET', `/v1/tasks?conversation_id=${made.id}`);
    const { body: task } = await persist('GET', `/v1/tasks/${list.data[0].id}`);
    expect(task).toMatchObject({
      status: 'done',
      result: { text: 'Draft 2.' },
      outcome: { met: true, reason: 'Draft 2.', rounds: 2 },
    });
    // The second draft was cut off by the kill and is the only call that is made again.
    expect([drafts, verdicts]).toEqual([
      [1, 2, 2],
      [1, 2],
    ]);
    const { body: trace } = await persist('GET', `/v1/tasks/${task.id}/trace`);
    expect(trace.turns.map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'judged',
      'completed',
      'judged',
    ]);
    const { body: items } = await persist('GET', `/v1/usage/line-items?task_id=${task.id}&limit=100`);
    expect(items.data.filter(({ unit }: { unit: string }) => unit === 'input_tokens')).toHaveLength(4);
    // The rest of this file counts the rows of its own conversations.
    await persist('DELETE', `/v1/conversations/${made.id}`);
  }, 300_000);
});

describe('killed again and again while turns run with tools and approvals', () => {
  it(
    'loses no message, repeats no recorded call, leaves no gap and settles every turn [EVT-012, MON-007, MON-022]',
    async () => {
      const progress = { settled: 0 };
      const tokens = Array.from({ length: turns }, () => randomUUID());
      const running = Promise.all(tokens.map((token) => converse(token, progress)));
      for (let kill = 0; kill < kills; kill++) {
        await sleep(isLong ? 700 : 500);
        await server.kill('SIGKILL');
        server = await start();
      }
      const conversations = await running;
      await assertWhole(tokens, conversations);
    },
    isLong ? 1_800_000 : 300_000,
  );
});

async function assertWhole(tokens: readonly string[], conversations: readonly string[]): Promise<void> {
  const connectionString = await readFile(`${dataDir}/postgres.url`, 'utf8');
  const rows = <Row>(text: string) => query<Row & Record<string, unknown>>(connectionString, text);

  const messages = await rows<{ conversation_id: string; role: string; text: string }>(
    'SELECT conversation_id, role, text FROM messages ORDER BY id',
  );
  for (const [at, id] of conversations.entries()) {
    const said = messages.filter(({ conversation_id }) => conversation_id === id);
    expect(said.map(({ role }) => role)).toEqual(['user', 'agent']);
    expect(said[1]?.text).toBe(`One moment.\n\nAll done with ${tokens[at]}.`);
  }
  expect(await rows(`SELECT id, state FROM turns WHERE state <> 'settled'`)).toEqual([]);
  expect(await rows('SELECT id FROM runs')).toEqual([]);

  const gaps = await rows(`SELECT c.id FROM conversations c LEFT JOIN conversation_events e ON e.conversation_id = c.id
    GROUP BY c.id HAVING count(e.seq) <> c.last_event_seq OR max(e.seq) <> count(e.seq)`);
  expect(gaps).toEqual([]);

  // A call that was recorded ran once; one whose record was lost ran at most once.
  for (const token of tokens) expect(touched.get(token) ?? 0).toBeLessThanOrEqual(1);
  const touches = await rows<{ token: string; is_error: boolean }>(
    `SELECT arguments ->> 'token' AS token, is_error FROM run_calls WHERE name LIKE '%touch'`,
  );
  expect(touches).toHaveLength(tokens.length);
  for (const { token, is_error } of touches) if (!is_error) expect(touched.get(token)).toBe(1);

  // The deltas of the message that stands are its text.
  const deltas = await rows<{ conversation_id: string; text: string }>(`
    SELECT m.conversation_id, string_agg(e.data ->> 'text', '' ORDER BY e.seq) AS text
    FROM messages m JOIN conversation_events e ON e.conversation_id = m.conversation_id AND e.type = 'reply.delta'
      AND e.data ->> 'message_id' = m.id WHERE m.role = 'agent' GROUP BY m.conversation_id`);
  const texts = new Map(
    messages.filter(({ role }) => role === 'agent').map((each) => [each.conversation_id, each.text]),
  );
  expect(new Map(deltas.map((each) => [each.conversation_id, each.text]))).toEqual(texts);

  const sums = await rows<{ sum: string }>(
    'SELECT COALESCE(sum(amount_micros), 0) AS sum FROM ledger_entries GROUP BY transfer_id',
  );
  for (const { sum } of sums) expect(Number(sum)).toBe(0);
  const unequal = await rows(`
    SELECT s.run_id, s.cost, l.cost FROM (SELECT run_id, sum(cost_micros) AS cost FROM run_steps GROUP BY run_id) s
    FULL JOIN (SELECT turn_id, sum(amount_micros) AS cost FROM ledger_entries WHERE account = 'spend' AND kind = 'orchestrator'
      GROUP BY turn_id) l ON l.turn_id = s.run_id WHERE s.cost IS DISTINCT FROM l.cost`);
  expect(unequal).toEqual([]);
}
