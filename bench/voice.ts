import { createOfflineSpeech } from '@vestra/server/adapters/voice/offline-speech';
import { bringVoice, openTelephones, voiceFolder } from '../tests/scenarios/telephone.fixture.ts';
import { percentile } from './load.ts';
import { descendantsOf, residentMb } from './processes.ts';
import { duration, megabytes, type Row, type Stage } from './report.ts';
import { withServer } from './with-server.ts';

const sentences = [
  'When does my parcel arrive?',
  'I would like to change the address of my last order.',
  'Please cancel the meeting on Thursday afternoon.',
  'How much does it cost to send a letter to Canada?',
  'The blue jacket is too small, can I send it back?',
  'Book a table for four people at seven this evening.',
];

/** Speech from packages: what is understood, how long an answer takes to begin, and many calls at once. */
export async function measureVoice(stage: Stage): Promise<Row[]> {
  const away = await bringVoice();
  if (away !== null) throw new Error(away);
  const understood = await measureWords();
  const calls = Math.max(2, Math.round(20 * stage.share));
  const env = { VESTRA_VOICE_DIR: voiceFolder, VESTRA_VOICE_CALLS: '40' };
  const measured = await withServer(
    stage,
    'voice',
    async ({ server, call }) => {
      const request = async (method: string, path: string, { key, body }: { key?: string; body?: unknown } = {}) => {
        const text = await call(method as 'POST', path, body, { ...(key !== undefined && { key }) });
        return { status: 200, body: JSON.parse(text), text };
      };
      await call('PUT', '/v1/deployments/desk?promote=now', { name: 'desk', memory: 'none' });
      const telephones = await openTelephones();
      const dial = async () => {
        const { body: session } = await request('POST', '/v1/sessions', { body: { voice: true } });
        const begunAt = performance.now();
        const telephone = await telephones.call({ call: request as never }, session);
        return { telephone, took: performance.now() - begunAt };
      };
      const ask = async ({ telephone }: Awaited<ReturnType<typeof dial>>) => {
        await telephone.silence();
        await telephone.speak(sentences[0] as string);
        const endedAt = performance.now();
        await telephone.sound();
        const took = performance.now() - endedAt;
        await telephone.silence();
        return took;
      };
      // The first call loads the models, which those after it find there.
      const first = await dial();
      await ask(first);
      const alone: number[] = [];
      for (let at = 0; at < 5; at++) alone.push(await ask(first));
      const before = memoryOf(server.process.pid as number);
      const others = [];
      for (let at = 1; at < calls; at++) others.push(await dial());
      const after = memoryOf(server.process.pid as number);
      const together: number[] = [];
      // One in four speaks at a time, as people who wait and listen do.
      for (let at = 0; at < others.length; at += 5) {
        together.push(...(await Promise.all(others.slice(at, at + 5).map(ask))));
      }
      await telephones.close();
      const half = (times: number[], share = 0.5) =>
        duration(
          percentile(
            times.sort((a, b) => a - b),
            share,
          ),
        );
      return [
        { what: 'voice: from the offer to the connected call, p50', measured: half(others.map(({ took }) => took)) },
        {
          what: 'voice: from the end of speech to the first sound, offline model',
          measured: half(alone),
          budget: '800 ms',
        },
        {
          what: `voice: the same, ${calls} calls of which five speak at once, p50, p95`,
          measured: `${half(together)}, ${half(together, 0.95)}`,
        },
        { what: 'voice: memory of one more call', measured: megabytes((after - before) / (calls - 1)) },
      ];
    },
    env,
  );
  return [...understood, ...measured];
}

/** Of the server and all that it has started. */
const memoryOf = (pid: number) => [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + residentMb(each), 0);

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
