/** The support desk of `examples/` on a real server, with a few customers, for pictures of the console and the chat. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { freePort } from '../bench/processes.ts';
import { type RunningServer, startServerProcess } from '../bench/server-process.ts';
import { matchWords } from '../tests/support/word-matching-model.ts';

export type Shop = Pick<RunningServer, 'url' | 'orgId' | 'owner'> & {
  /** Calls the API with the test key. */
  call: Call;
  /** Sends a message in a new or open conversation and resolves with it when the turn is over or waits. */
  say: (userId: string, message: string, conversationId?: string) => Promise<Conversation>;
};

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field, and a missing field stops the run.
type Call = (method: string, path: string, body?: unknown) => Promise<any>;
type Conversation = { id: string; status: string };

const root = join(import.meta.dirname, '..');
const example = join(root, 'examples/support-desk');

/** Runs `work` against a shop in a temporary folder. */
export async function withShop(work: (shop: Shop) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-shop-'));
  // If this process runs as root, PostgreSQL runs as another user.
  await chmod(folder, 0o711);
  const ends: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} });
    ends.push(postgres.stop);
    const model = await startScriptedModelServer({ respond: answerTo });
    ends.push(model.close);
    const server = await startServerProcess(join(folder, 'server'), await freePort(), {
      DATABASE_URL: postgres.connectionString,
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
      OPENAI_COMPATIBLE_MODELS: 'example',
      OPENAI_COMPATIBLE_PRICE: '1.00,4.00',
      VESTRA_DEFAULT_MODEL: 'compatible/example',
      VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
      VESTRA_ASK_FOR_MODELS: '0',
    });
    ends.push(server.stop);
    ends.push(await openDesk(server));
    await work(shopAt(server));
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

/** Applies the example and serves its functions. Resolves with the way to end that. */
async function openDesk({ url, testKey }: RunningServer): Promise<() => Promise<unknown>> {
  const command = [join(root, 'packages/cli/bin/vestra.js')];
  const env = { PATH: process.env.PATH ?? '', VESTRA_URL: url, VESTRA_KEY: testKey };
  // The model answers in this process, so the command must not block it.
  await promisify(execFile)(process.execPath, [...command, 'apply', example], { env });
  const words = ['functions', 'serve', join(example, 'functions.js'), '--deployment', 'support-desk'];
  const serving = spawn(process.execPath, [...command, ...words], { env, stdio: 'ignore' });
  return async () => {
    if (serving.exitCode !== null) return;
    serving.kill('SIGTERM');
    await once(serving, 'exit');
  };
}

function shopAt({ url, orgId, owner, testKey }: RunningServer): Shop {
  const call: Call = async (method, path, body) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  return {
    url,
    orgId,
    owner,
    call,
    async say(userId, message, conversationId) {
      const { id } = conversationId
        ? await call('POST', `/conversations/${conversationId}/messages`, { message }).then(() => ({
            id: conversationId,
          }))
        : await call('POST', '/conversations', { deployment: 'support-desk', user_id: userId, message });
      for (const deadline = Date.now() + 60_000; ; ) {
        const conversation: Conversation = await call('GET', `/conversations/${id}`);
        const { data: pending } = await call('GET', `/interactions?conversation_id=${id}`);
        const isForPerson = pending.some(({ type }: { type: string }) => type === 'approval');
        if (conversation.status === 'idle' || isForPerson) return conversation;
        if (Date.now() > deadline) throw new Error(`“${message}” has no answer: ${JSON.stringify(pending)}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}

/** The stand-in chooses the tools and judges the tests. The final texts below are written like those of a model. */
function answerTo(request: NormalisedRequest): ScriptedAnswer {
  // As long as a fast model needs, so that the trace shows its steps.
  const delayMs = request.outputSchema ? 0 : 450;
  const usage = { inputTokens: 1480, outputTokens: 64, cacheReadTokens: 900 };
  const decision = matchWords(request) as ScriptedAnswer;
  if (request.outputSchema || (decision.calls ?? []).length > 0) return { ...decision, usage, delayMs };
  const asked = request.messages.findLast(({ role }) => role === 'user');
  const text = replies.find(([words]) => asked?.role === 'user' && asked.text.includes(words))?.[1];
  return { ...decision, ...(text && { text }), usage, delayMs };
}

const replies: readonly (readonly [string, string])[] = [
  ['damaged', 'Send us a photograph within fourteen days. We replace the piece, or refund price and shipping.'],
  ['wash', 'Wash lambswool by hand below 30 °C and dry it flat. Merino may go into the machine on the wool setting.'],
  [
    'returns policy',
    'You have thirty days from delivery, unworn and with the label. A refund goes to the card that paid.',
  ],
  ['moths', 'A day in the freezer ends an infestation. Cedar and cold keep moths away afterwards.'],
];
