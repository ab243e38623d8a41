import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Respond } from '../support/agent.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { startTalk, type Talk } from './conversations.fixture.ts';
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
