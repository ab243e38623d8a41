import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { each, measure, percentile } from './load.ts';
import { startModelProcess } from './model-process.ts';
import { cpuMs, residentMb } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import type { RunningServer } from './server-process.ts';
import { asOtherOrg, callServer, contendWith, startWithModel } from './vestra.ts';

/** A conversation and the token that may read it. */
type Followed = { id: string; token: string; org: RunningServer };
/** `lateMs`: from the moment the server wrote the end of the turn to the moment it arrived. */
type Follower = { settled: number; lateMs: number; isOpen: boolean };

const endOfTurn = 'event: turn.settled\n';

/**
 * Streams of idle conversations, all held by one process: of keys, and of pages of users, each with the token of its
 * session. They belong to two orgs, because one org may hold 12,000 and one key 10,000. Then something happens in each.
 */
export async function measureFollowers(stage: Stage): Promise<Row[]> {
  return [
    ...(await measureStreams(stage, { name: 'event followers', most: 20_000, hasSessions: false })),
    ...(await measureStreams(stage, { name: 'idle sessions', most: 10_000, hasSessions: true })),
  ];
}

type Streams = { name: string; most: number; hasSessions: boolean };

async function measureStreams(
  { folder, share, seconds, note }: Stage,
  { name, most, hasSessions }: Streams,
): Promise<Row[]> {
  const count = Math.min(Math.round(most * share), openFilesLimit() - spareFiles);
  if (count < Math.round(most * share)) note(`${count} ${name}, because \`ulimit -n\` is ${openFilesLimit()} here`);
  const place = join(folder, name.replace(' ', '-'));
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({ dataDir: `${place}-database`, log: () => {} });
  const { connectionString } = postgres;
  const server = await startWithModel(place, model.baseUrl, { DATABASE_URL: connectionString });
  const pid = server.process.pid as number;
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  try {
    const orgs = [server, await asOtherOrg(server, connectionString)];
    // A server that has worked: what it holds for that is not counted with the followers.
    await measure(16, seconds / 2, contendWith(server).turn);
    const followed: Followed[] = [];
    await each(count, 16, async (at) => {
      const org = orgs[at % orgs.length] as RunningServer;
      if (hasSessions) {
        const body = { deployment: 'bench', chat: true, user_id: `user-${at}` };
        const session = (await callServer(org, 'POST', '/v1/sessions', body)) as Session;
        followed.push({ id: session.conversation_id, token: session.token, org });
      } else {
        const made = (await callServer(org, 'POST', '/v1/conversations', { deployment: 'bench' })) as { id: string };
        followed.push({ id: made.id, token: org.testKey, org });
      }
    });
    await sleep(3000);
    const before = residentMb(pid);
    const cpuAtFirst = cpuMs(pid);
    const followers = followed.map((): Follower => ({ settled: 0, lateMs: Number.NaN, isOpen: false }));
    await each(count, 32, (at) => follow(agent, followed[at] as Followed, followers[at] as Follower));
    const openMs = (cpuMs(pid) - cpuAtFirst) / count;
    await sleep(3000);
    const perFollower = ((residentMb(pid) - before) * 1024) / count;
    const cpuBefore = cpuMs(pid);
    await sleep(seconds * 1000);
    const idleMs = (cpuMs(pid) - cpuBefore) / seconds;

    const startedAt = performance.now();
    await each(count, 32, (at) => {
      const { id, org } = followed[at] as Followed;
      return callServer(org, 'POST', `/v1/conversations/${id}/messages`, { message: 'Where is my parcel?' });
    });
    const deadline = performance.now() + 60_000;
    while (followers.some(({ settled }) => settled === 0) && performance.now() < deadline) await sleep(20);
    const took = performance.now() - startedAt;
    const reached = followers.filter(({ settled, isOpen }) => settled === 1 && isOpen).length;
    const late = followers.map(({ lateMs }) => lateMs).sort((a, b) => a - b);
    const thousands = (value: number) => value.toLocaleString('en');
    return [
      {
        what: `${name} of two orgs held by one process: reached by an event`,
        measured: `${thousands(reached)} of ${thousands(count)}`,
        budget: thousands(most),
      },
      { what: `${name}: memory for each`, measured: `${perFollower.toFixed(1)} KB` },
      { what: `${name}: CPU of the server to open one`, measured: `${openMs.toFixed(2)} ms` },
      {
        what: `${name}: CPU of the server while nothing happens, in all and for each`,
        measured: `${idleMs.toFixed(1)} ms a second, ${((idleMs * 1000) / count).toFixed(2)} µs a second`,
      },
      {
        what: `${name}: a turn in each conversation, 32 at once, until all have heard`,
        measured: duration(took),
      },
      {
        what: `${name}: from the end of a turn to its follower, p50, p95, at most`,
        measured: [percentile(late, 0.5), percentile(late, 0.95), percentile(late, 1)].map(duration).join(', '),
      },
    ];
  } finally {
    agent.destroy();
    await server.stop();
    await model.stop();
    await postgres.stop();
  }
}

type Session = { conversation_id: string; token: string };

/** For PostgreSQL, the model, requests and what a process has open at rest. */
const spareFiles = 400;

/** Of this process, and of the server that it starts: each holds a socket for each follower. */
function openFilesLimit(): number {
  const [, most] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Number(most);
}

/** Resolves when the stream is open; counts what comes for as long as it is. */
async function follow(agent: Agent, { id, token, org }: Followed, follower: Follower): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    get(`${org.url}/v1/conversations/${id}/events`, { agent, headers }, resolve).once('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(`A follower was answered ${response.statusCode}.`);
  follower.isOpen = true;
  // The start of a frame whose rest is still to come.
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() as string;
    for (const frame of frames.filter((each) => each.includes(endOfTurn))) {
      follower.settled++;
      const { created_at } = JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7)) as { created_at: string };
      follower.lateMs = Date.now() - Date.parse(created_at);
    }
  });
  const end = () => {
    follower.isOpen = false;
  };
  response.once('end', end).once('error', end);
}
