import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import type { Respond } from '../support/agent.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { heardSince, startTalk, type Talk } from './conversations.fixture.ts';
import { endings, lookups, questions } from './talk-rows.fixture.ts';
import { expectToKnow, playTurn, type Turn } from './talks.fixture.ts';

/** It takes messages and runs nothing: what runs, runs in a process beside it, which is killed again and again. */
let server: Talk;
let data: Awaited<ReturnType<typeof makeDataDir>>;
let worker: ServerProcess | undefined;
beforeAll(async () => {
  server = await startTalk({ VESTRA_ROLE: 'api' });
  data = await makeDataDir();
});
afterAll(async () => {
  await worker?.kill('SIGKILL');
  await server.stop();
  await data.remove();
});

async function startAnew(): Promise<void> {
  await worker?.kill('SIGKILL');
  worker = await startProcess(data.dataDir, {
    ...server.env,
    VESTRA_ROLE: 'worker',
    DATABASE_URL: server.connectionString,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    // Long enough that a slow machine takes nobody for dead who is not.
    VESTRA_LEASE_SECONDS: '8',
  });
}

/** The talks run beside each other, and what the model is asked says by a mark in the first message which one it is of. */
const markOf = (talk: number) => `[talk ${talk}]`;
const talkOf = ({ messages }: NormalisedRequest) => Number(/\[talk (\d+)\]/.exec(JSON.stringify(messages))?.[1]);

const rows = [...lookups, ...questions, ...endings].filter(([, turns]) => turns.length > 1);
const rounds = Math.max(...rows.map(([, turns]) => turns.length));

it('the agent knows the same after each of its processes was killed, also in the middle of a reply [MSG-531]', async () => {
  const responds = new Map<number, Respond>();
  server.script((request) => responds.get(talkOf(request))?.(request) ?? { fail: 500 });
  const talks = await Promise.all(
    rows.map(async ([what, turns, needed, not = []], number) => {
      const key = number % 2 === 0 ? server.testKey : server.liveKey;
      const { id } = await server.begin({ user_id: 'ann' }, key);
      return { what, turns, needed, not, key, id, number, asked: [] as NormalisedRequest[] };
    }),
  );
  type OneTalk = (typeof talks)[number];

  const sayNext = ({ id, key, number, asked }: OneTalk, turn: Turn) =>
    playTurn({ ...server, script: hearing(number, asked) }, id, turn, key);
  const hearing = (number: number, asked: NormalisedRequest[]) => (respond: Respond) => {
    asked.length = 0;
    responds.set(number, (request) => {
      asked.push(request);
      return respond(request);
    });
  };

  /** All begin with their first message so that they come to their last one together. */
  const turnIn = ({ turns, number }: OneTalk, round: number): Turn | undefined => {
    const at = round - (rounds - turns.length);
    const turn = turns[at];
    return turn && at === 0 ? { ...turn, says: `${markOf(number)} ${turn.says}` } : turn;
  };
  for (let round = 0; round < rounds - 1; round++) {
    await startAnew();
    await Promise.all(
      talks.map(async (talk) => {
        const turn = turnIn(talk, round);
        if (turn) await sayNext(talk, turn);
      }),
    );
  }

  await startAnew();
  const requests = talks.map(async (talk) => {
    const turn = turnIn(talk, rounds - 1) as Turn;
    return sayNext(talk, { ...turn, model: [{ fail: 'hang' }, ...turn.model] });
  });
  const all = Promise.all(requests);
  await Promise.race([
    all,
    expect.poll(() => talks.filter(({ asked }) => asked.length === 0), { timeout: 60_000 }).toEqual([]),
  ]);
  await startAnew();
  for (const [at, request] of (await all).entries()) {
    const { needed, not } = talks[at] as OneTalk;
    expectToKnow(request, needed, not);
  }
});

it.each([
  ['a reply', {}],
  ['a task', { hand_off: 'always' }],
])(
  'after its process was killed in the middle of %s, the agent reads that the session of a tool server is a new one, and finds its files [MCPS-707, MCPS-715]',
  async (what, more) => {
    const counts = new Map<string, number>();
    const offered = [tool('count', { annotations: { readOnlyHint: true } })];
    const served = await serveMcp('2025 with sessions', offered, {
      call(_name, _args, { sessionId = '' }) {
        counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
        const content = [{ type: 'text' as const, text: `count ${counts.get(sessionId)}` }];
        const blob = Buffer.from('kept content').toString('base64');
        const resource = { uri: 'file:///kept.csv', mimeType: 'application/x-table', blob };
        const isFirst = counts.size === 1;
        return { content: isFirst ? [...content, { type: 'resource' as const, resource }] : content };
      },
    });
    const name = `killed-in-${what.replace(' ', '-')}`;
    await server.apply({ name, memory: 'none', tools: [{ mcp: served.url, name }] });
    await startAnew();
    const { promise: called, resolve: call } = Promise.withResolvers<void>();
    const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
    const counting = { calls: [{ name: `mcp__${name}__count`, arguments: {} }] };
    const reading = { calls: [{ name: 'read_conversation_file', arguments: { filename: 'kept.csv' } }] };
    server.script(async (request) => {
      const outputs = heardSince(request).map(({ output }) => output);
      if (outputs.length === 1) {
        call();
        await killed;
      }
      if (outputs.length < 3) return counting;
      return outputs.length === 3 ? reading : { text: outputs.join('\n') };
    });
    const { id } = await server.begin({ deployment: name, message: 'Count.', ...more });
    await called;
    await startAnew();
    kill();
    await server.rest(id);
    const heard = heardSince(server.asked.at(-1) as NormalisedRequest).map(({ output }) => output);
    const isNew = /called in a new session/;
    // The file from before the crash is still there.
    expect(heard.pop()).toContain('kept content');
    expect(heard.map((each) => [/count \d/.exec(each)?.[0], isNew.test(each)])).toEqual([
      ['count 1', false],
      ['count 1', true],
      ['count 2', false],
    ]);
  },
  600_000,
);
