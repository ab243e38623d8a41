import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { each, measure } from './load.ts';
import { startModelProcess } from './model-process.ts';
import { cpuMs, residentMb } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import type { RunningServer } from './server-process.ts';
import { callServer, contendWith, startWithModel } from './vestra.ts';

type Follower = { settled: number; isOpen: boolean };

const endOfTurn = 'event: turn.settled\n';

/** Streams of as many idle conversations, all held by one process; then something happens in each of them. */
export async function measureFollowers({ folder, share, seconds }: Stage): Promise<Row[]> {
  const count = Math.round(5000 * share);
  const model = await startModelProcess();
  const server = await startWithModel(join(folder, 'followers'), model.baseUrl);
  const pid = server.process.pid as number;
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  try {
    // A server that has worked: what it holds for that is not counted with the followers.
    await measure(16, seconds / 2, contendWith(server).turn);
    const ids: string[] = [];
    await each(count, 16, async () => {
      const made = await callServer(server, 'POST', '/v1/conversations', { deployment: 'bench' });
      ids.push((made as { id: string }).id);
    });
    await sleep(3000);
    const before = residentMb(pid);
    const followers = ids.map((): Follower => ({ settled: 0, isOpen: false }));
    await each(count, 32, (at) => follow(server, agent, ids[at] as string, followers[at] as Follower));
    await sleep(3000);
    const perFollower = ((residentMb(pid) - before) * 1024) / count;
    const cpuBefore = cpuMs(pid);
    await sleep(seconds * 1000);
    const idleShare = (cpuMs(pid) - cpuBefore) / (seconds * 1000);

    const startedAt = performance.now();
    await each(count, 32, (at) =>
      callServer(server, 'POST', `/v1/conversations/${ids[at]}/messages`, { message: 'Where is my parcel?' }),
    );
    const deadline = performance.now() + 60_000;
    while (followers.some(({ settled }) => settled === 0) && performance.now() < deadline) await sleep(20);
    const reached = followers.filter(({ settled, isOpen }) => settled === 1 && isOpen).length;
    const thousands = (value: number) => value.toLocaleString('en');
    return [
      {
        what: 'event followers held by one process: reached by an event',
        measured: `${thousands(reached)} of ${thousands(count)}`,
        budget: '5,000',
      },
      { what: 'event followers: memory for each', measured: `${perFollower.toFixed(1)} KB` },
      { what: 'event followers: CPU of the server while nothing happens', measured: percent(idleShare) },
      {
        what: 'event followers: a turn in each conversation, 32 at once, until all have heard',
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
async function follow(server: RunningServer, agent: Agent, id: string, follower: Follower): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.testKey}`, accept: 'text/event-stream' };
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
