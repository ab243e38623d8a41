import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOfflineSpeech } from '@vestra/server/voice/speech/offline-speech';
import { bringVoice, openTelephones, type Telephones, voiceFolder } from '../tests/scenarios/telephone.fixture.ts';
import { percentile } from './load.ts';
import { cpuMs, descendantsOf } from './processes.ts';
import { duration, failedMark, megabytes, type Row, type Stage } from './report.ts';
import { memoryOf, type RunningServer } from './server-process.ts';
import { withServer } from './with-server.ts';

const sentences = [
  'When does my parcel arrive?',
  'I would like to change the address of my last order.',
  'Please cancel the meeting on Thursday afternoon.',
  'How much does it cost to send a letter to Canada?',
  'The blue jacket is too small, can I send it back?',
  'Book a table for four people at seven this evening.',
];

/** A call that is not answered within this time counts as lost, and the measurement continues without it. */
const patienceMs = 15_000;
/** After which no call and no question is begun; those that were begun end within their patience. */
const wholeMs = 180_000;

type Telephone = Awaited<ReturnType<Telephones['call']>>;
type Dialled = { telephone: Telephone; took: number };
/** From the end of speech: until it counts as the end, until its words are known, until the reply speaks, until it sounds. */
type Answered = { ended: number; read: number; replied: number; sounded: number };

/** Speech from packages: what is understood, how long an answer takes to begin, and many calls at once. */
export async function measureVoice(stage: Stage): Promise<Row[]> {
  const [load = 0] = loadavg();
  const away = await bringVoice();
  if (away !== null) throw new Error(away);
  const understood = await measureWords();
  const calls = Math.max(2, Math.round(20 * stage.share));
  // Nobody is sent away for listening: others are dialled and asked meanwhile.
  const env = { VESTRA_VOICE_DIR: voiceFolder, VESTRA_VOICE_CALLS: '40', VESTRA_VOICE_SILENCE_SECONDS: '900' };
  const measured = await withServer(
    stage,
    'voice',
    async ({ server, call }) => {
      await call('PUT', '/v1/deployments/desk?promote=now', { name: 'desk', memory: 'none' });
      const telephones = await openTelephones();
      try {
        return await measureCalls(telephones, calls, server, async (method, path, given = {}) => {
          const text = await call(method as 'POST', path, given.body, given);
          return { status: 200, body: JSON.parse(text), text };
        });
      } finally {
        await telephones.close();
      }
    },
    env,
  );
  return [
    { what: 'voice: load of the machine before it began', measured: load.toFixed(1) },
    ...understood,
    ...measured,
  ];
}

type Request = (
  method: string,
  path: string,
  given?: { key?: string; body?: unknown },
) => Promise<{ status: number; body: Record<string, string>; text: string }>;

async function measureCalls(
  telephones: Telephones,
  calls: number,
  server: RunningServer,
  request: Request,
): Promise<Row[]> {
  const begunAt = performance.now();
  const isLate = () => performance.now() - begunAt > wholeMs;
  const lost: string[] = [];
  let asked = 0;

  async function dial(): Promise<Dialled | null> {
    const { body: session } = await request('POST', '/v1/sessions', { body: { voice: true } });
    const since = performance.now();
    try {
      const telephone = await telephones.call({ call: request as never }, session as never, { patienceMs });
      return { telephone, took: performance.now() - since };
    } catch (error) {
      lost.push(`a call: ${(error as Error).message}`);
      return null;
    }
  }

  /** Nothing where no answer came, which is counted and stops nobody else. */
  async function ask({ telephone }: Dialled): Promise<Answered[]> {
    asked += 1;
    try {
      await telephone.silence();
      await telephone.speak(sentences[0] as string);
      const since = performance.now();
      await telephone.sound();
      const sounded = performance.now() - since;
      const at = (state: string) => (telephone.notes.findLast((note) => note.state === state)?.at ?? since) - since;
      const answered = { ended: at('reading'), read: at('thinking'), replied: at('speaking'), sounded };
      await telephone.silence();
      return [answered];
    } catch (error) {
      lost.push(`a question: ${(error as Error).message}`);
      return [];
    }
  }

  // The first call loads the models, which those after it find there.
  const first = await dial();
  if (!first) throw new Error(`The first call was lost: ${lost[0]}`);
  await ask(first);
  const alone: Answered[] = [];
  for (let at = 0; at < 5 && !isLate(); at++) alone.push(...(await ask(first)));
  const before = memoryOf(server).withPostgres;
  const others: Dialled[] = [];
  let isFull = false;
  for (let at = 1; at < calls && !isFull && !isLate(); at++) {
    const other = await dial();
    if (other) others.push(other);
    isFull = await isHeldUp();
  }
  const after = memoryOf(server).withPostgres;
  const listening = await cpuOf(server.process.pid as number);
  const together: Answered[] = [];
  // One in four speaks at a time, as people who wait and listen do.
  for (let at = 0; at < others.length && !isLate(); at += 5) {
    together.push(...(await Promise.all(others.slice(at, at + 5).map(ask))).flat());
  }
  for (const each of lost) console.error(`lost: ${each}`);
  const connected = others.length + 1;
  const part = (from: keyof Answered | null, to: keyof Answered) =>
    middle(alone.map((each) => each[to] - (from === null ? 0 : each[from])));
  return [
    { what: 'voice: from the offer to the connected call, p50', measured: middle(others.map(({ took }) => took)) },
    {
      what: 'voice: from the end of speech to the first sound, offline model',
      measured: middle(alone.map(({ sounded }) => sounded)),
      budget: '800 ms',
    },
    {
      what: 'voice: of which silence that ends a turn, its words, the reply, its sound',
      measured: [part(null, 'ended'), part('ended', 'read'), part('read', 'replied'), part('replied', 'sounded')].join(
        ', ',
      ),
    },
    {
      what: `voice: the same, ${connected} calls of which five speak at once, p50, p95`,
      measured: [0.5, 0.95]
        .map((share) =>
          middle(
            together.map(({ sounded }) => sounded),
            share,
          ),
        )
        .join(', '),
    },
    {
      what: 'voice: calls that never connected, questions that nobody answered',
      measured: `${calls - connected} of ${calls}${isFull ? ', since telephones and server filled the machine' : ''}, ${asked - 1 - alone.length - together.length} of ${asked - 1}${isLate() ? `, when ${wholeMs / 1000} s were over` : ''}`,
      budget: '0',
    },
    { what: 'voice: memory of one more call', measured: megabytes((after - before) / others.length) },
    {
      what: `voice: CPU of the server for a call in which nobody speaks, of ${connected}`,
      measured: `${((listening / connected) * 100).toFixed(1)} % of a core`,
    },
  ];
}

/** Which of all that were measured: the one in the middle, where nothing else is said. */
function middle(times: number[], share = 0.5): string {
  if (times.length === 0) return `${failedMark}nothing came`;
  return duration(
    percentile(
      times.sort((a, b) => a - b),
      share,
    ),
  );
}

/** All telephones share this thread: where it no longer comes to its timers, what they measure is themselves. */
async function isHeldUp(): Promise<boolean> {
  const since = performance.now();
  await sleep(50);
  return performance.now() - since > 250;
}

/** In cores. */
async function cpuOf(pid: number): Promise<number> {
  const all = [pid, ...descendantsOf(pid)];
  const used = () => all.reduce((sum, each) => sum + cpuMs(each), 0);
  const [before, since] = [used(), performance.now()];
  await sleep(5_000);
  return (used() - before) / (performance.now() - since);
}

/** Words that were misheard, of each voice but the one that sounds like a machine. */
async function measureWords(): Promise<Row[]> {
  const speech = createOfflineSpeech({ folder: voiceFolder });
  const rows: Row[] = [];
  for (const voice of ['slt', 'rms', 'awb']) {
    const call = speech.open(voice);
    let wrong = 0;
    let all = 0;
    for (const sentence of sentences) {
      const utterance = call.listen();
      for await (const samples of call.speak(sentence, new AbortController().signal)) utterance.push(samples);
      const words = wordsOf(sentence);
      all += words.length;
      wrong += distance(words, wordsOf(await utterance.text()));
    }
    call.close();
    rows.push({
      what: `voice: words misheard of the voice ${voice}`,
      measured: `${((wrong / all) * 100).toFixed(0)} %`,
    });
  }
  await speech.close();
  return rows;
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

/** Words to be put in, taken out or changed to make the one into the other. */
function distance(one: readonly string[], other: readonly string[]): number {
  let line = other.map((_, at) => at + 1);
  for (const [row, word] of one.entries()) {
    const next: number[] = [];
    for (const [at, heard] of other.entries()) {
      const corner = at === 0 ? row : (line[at - 1] as number);
      const left = at === 0 ? row + 1 : (next[at - 1] as number);
      next.push(Math.min(corner + Number(word !== heard), left + 1, (line[at] as number) + 1));
    }
    line = next;
  }
  return line.at(-1) ?? one.length;
}
