import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { Agent, request } from 'undici';
import { load, type Measured } from './load.ts';
import { endWithUs } from './processes.ts';

/** Requests the model answered since the last query. Times are from the machine's monotonic clock. */
type Answered = { count: number; firstAt: number | null };

export type ModelProcess = {
  /** As an OpenAI-compatible `…_BASE_URL` setting takes it. */
  baseUrl: string;
  answered: () => Promise<Answered>;
  stop: () => Promise<void>;
};

/** A reply of 21 tokens, each in a separate frame. */
const tokens =
  'The parcel left our warehouse this morning and will be with you on Friday , between nine and noon as ordered'
    .split(' ')
    .map((word, at) => (at === 0 ? word : ` ${word}`));

export const reply = tokens.join('');

/** To a message with these words the model answers with a question, and the work waits for a person. */
export const askingWords = 'Ask me first';

/** To a message with these words the model types its answer over four seconds. */
export const slowWords = 'Tell me slowly';
export const slowTokens = 200;

/** To a message with these words the model types its usual answer, as fast as a fast vendor does: 20 ms a token. */
export const typedWords = 'Type it';

/** To a message with these words the model answers at length, and at once. */
export const longWords = 'Tell me at length';
export const longTokens = 500;

/** A message with these words makes the model call a function of the company that waits for approval. */
export const actingWords = 'Act on order';
export const actingFunction = 'act_on_order';

/** Runs the model in a separate process, so that its cost is not counted with the servers it answers. */
export async function startModelProcess(): Promise<ModelProcess> {
  const child = fork(import.meta.filename, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  endWithUs(child);
  const [baseUrl] = (await once(child, 'message')) as [string];
  return {
    baseUrl,
    async answered() {
      child.send('answered');
      const [answered] = (await once(child, 'message')) as [Answered];
      return answered;
    },
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Measures the model alone with the same requests that the servers send. */
export async function measureModel(baseUrl: string, atOnce: number, seconds: number): Promise<Measured> {
  const dispatcher = new Agent({ connections: atOnce, pipelining: 1 });
  const body = JSON.stringify({
    model: 'scripted',
    stream: true,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Where is my parcel?' },
    ],
  });
  const measured = await load(atOnce, seconds, async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await request(`${baseUrl}/chat/completions`, { method: 'POST', dispatcher, headers, body });
    const text = await response.body.text();
    if (!text.endsWith('[DONE]\n\n')) throw new Error(`The model answered ${text}`);
  });
  await dispatcher.close();
  return measured;
}

export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

if (import.meta.main) {
  let since: Answered = { count: 0, firstAt: null };
  const { baseUrls } = await startScriptedModelServer({
    // The model shares the machine with the server that is measured.
    checksRules: false,
    respond(asked) {
      since.count++;
      since.firstAt ??= monotonicMs();
      return answerTo(asked);
    },
  });
  process.on('message', () => {
    process.send?.(since);
    since = { count: 0, firstAt: null };
  });
  process.send?.(baseUrls.compatible);
}

function answerTo({ messages, outputSchema }: NormalisedRequest): ScriptedAnswer {
  if (isAskedForFacts(outputSchema)) {
    const fact = { text: 'The parcels of the user go to Lisbon.', kind: 'preference', said_by_user: true };
    return { text: JSON.stringify({ facts: [fact], outdated: [] }), usage: { inputTokens: 300, outputTokens: 30 } };
  }
  const isToAct = messages.some((each) => each.role === 'user' && each.text.includes(actingWords));
  if (isToAct && !messages.some(({ role }) => role === 'tool')) {
    return { calls: [{ name: actingFunction, arguments: { order: '1001' } }] };
  }
  const isToAsk = messages.some((each) => each.role === 'user' && each.text.includes(askingWords));
  if (isToAsk && !messages.some(({ role }) => role === 'tool')) {
    return { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] };
  }
  if (messages.some((each) => each.role === 'user' && each.text.includes(slowWords))) {
    return { text: words(slowTokens), chunkDelayMs: 20, usage: { inputTokens: 500, outputTokens: slowTokens } };
  }
  if (messages.some((each) => each.role === 'user' && each.text.includes(typedWords))) {
    return { text: tokens, chunkDelayMs: 20, usage: { inputTokens: 500, outputTokens: tokens.length } };
  }
  if (messages.some((each) => each.role === 'user' && each.text.includes(longWords))) {
    return { text: words(longTokens), usage: { inputTokens: 500, outputTokens: longTokens } };
  }
  return { text: tokens, usage: { inputTokens: 500, outputTokens: tokens.length } };
}

const isAskedForFacts = (schema: unknown) =>
  'facts' in ((schema as { properties?: object } | undefined)?.properties ?? {});

const words = (count: number) => Array.from({ length: count }, (_, at) => ` word${at}`);
