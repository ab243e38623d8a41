import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { each, measure } from './load.ts';
import { startModelProcess } from './model-process.ts';
import { cpuMs, residentMb } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import type { RunningServer } from './server-process.ts';
import { callServer, contendWith, startWithModel } from './vestra.ts';

/** A conversation and the token that may read it. */
type Followed = { id: string; token: string };
type Follower = { settled: number; isOpen: boolean };

const endOfTurn = 'event: turn.settled\n';

/**
 * Streams of idle conversations, all held by one process: of a key, and of pages of users, each with the token of its
 * session. Then something happens in each of them.
 */
export async function measureFollowers(stage: Stage): Promise<Row[]> {
  return [
    ...(await measureStreams(stage, { name: 'event followers', most: 20_000, hasSessions: false })),
    ...(await measureStreams(stage, { name: 'idle sessions', most: 10_000, hasSessions: true })),
  ];
}

type Streams = { name: string; most: number; hasSessions: boolean };

async function measureStreams({ folder, share, seconds }: Stage, { name, most, hasSessions }: Streams): Promise<Row[]> {
  const count = Math.round(most * share);
  const model = await startModelProcess();
  const server = await startWithModel(join(folder, name.replace(' ', '-')), model.baseUrl);
  const pid = server.process.pid as number;
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  try {
    // A server that has worked: what it holds for that is not counted with the followers.
    await measure(16, seconds / 2, contendWith(server).turn);
    const followed: Followed[] = [];
    await each(count, 16, async (at) => {
      if (hasSessions) {
        const body = { deployment: 'bench', chat: true, user_id: `user-${at}` };
        const session = (await callServer(server, 'POST', '/v1/sessions', body)) as Followed & {
          conversation_id: string;
        };
        followed.push({ id: session.conversation_id, token: session.token });
      } else {
        const made = (await callServer(server, 'POST', '/v1/conversations', { deployment: 'bench' })) as { id: string };
        followed.push({ id: made.id, token: server.testKey });
      }
    });
    await sleep(3000);
    const before = residentMb(pid);
    const followers = followed.map((): Follower => ({ settled: 0, isOpen: false }));
    await each(count, 32, (at) => follow(server, agent, followed[at] as Followed, followers[at] as Follower));
    await sleep(3000);
    const perFollower = ((residentMb(pid) - before) * 1024) / count;
    const cpuBefore = cpuMs(pid);
    await sleep(seconds * 1000);
    const idleShare = (cpuMs(pid) - cpuBefore) / (seconds * 1000);

    const startedAt = performance.now();
    await each(count, 32, (at) =>
      callServer(server, 'POST', `/v1/conversations/${followed[at]?.id}/messages`, { message: 'Where is my parcel?' }),
    );
    const deadline = performance.now() + 60_000;
    while (followers.some(({ settled }) => settled === 0) && performance.now() < deadline) await sleep(20);
    const reached = followers.filter(({ settled, isOpen }) => settled === 1 && isOpen).length;
    const thousands = (value: number) => value.toLocaleString('en');
    return [
      {
        what: `${name} held by one process: reached by an event`,
        measured: `${thousands(reached)} of ${thousands(count)}`,
        budget: thousands(most),
      },
      { what: `${name}: memory for each`, measured: `${perFollower.toFixed(1)} KB` },
      { what: `${name}: CPU of the server while nothing happens`, measured: percent(idleShare) },
      {
        what: `${name}: a turn in each conversation, 32 at once, until all have heard`,
        measured: duration(performance.now() - startedAt),
      },
    ];
  } finally {
    agent.destroy();
    await server.stop();
    await model.stop();
  }
}

const percent = (part: number) => `${(part * 100).toFixed(1)} % of one core`;

/** Resolves when the stream is open; counts what comes for as long as it is. */
async function follow(server: RunningServer, agent: Agent, { id, token }: Followed, follower: Follower): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    get(`${server.url}/v1/conversations/${id}/events`, { agent, headers }, resolve).once('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(`A follower was answered ${response.statusCode}.`);
  follower.isOpen = true;
  // The end of what came, in case a frame is cut in two.
  let tail = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const text = tail + chunk;
    follower.settled += text.split(endOfTurn).length - 1;
    tail = text.slice(text.lastIndexOf('\n') + 1);
  });
  const end = () => {
    follower.isOpen = false;
  };
  response.once('end', end).once('error', end);
}
