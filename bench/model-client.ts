import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createModels } from '@vestra/models/models';
import { percentile } from './load.ts';
import { longTokens, longWords, startModelProcess } from './model-process.ts';
import { installPackages } from './peers.ts';
import { endWithUs } from './processes.ts';
import type { Row, Stage } from './report.ts';

/** Request to a client over its channel. The client answers with the processor milliseconds that one call took. */
type Calls = { message: string; count: number };

const packages = ['@ai-sdk/openai-compatible@3.0.90', 'zod@4.6.7'];

/** Processor time of one call to a model that answers at once, by our client and by the AI SDK's, in turns. */
export async function measureModelClient({ peersFolder, share, withPeers }: Stage): Promise<Row[]> {
  const model = await startModelProcess();
  const clients = [start(import.meta.filename, model.baseUrl)];
  if (withPeers) clients.push(start(await installAiSdk(join(peersFolder, 'ai-sdk')), model.baseUrl));
  try {
    const rows: Row[] = [];
    for (const [tokens, message, count] of [
      [21, 'Where is my parcel?', 300],
      [longTokens, longWords, 60],
    ] as const) {
      const calls = { message, count: Math.max(5, Math.round(count * share)) };
      const times = await inTurns(clients, calls, Math.max(2, Math.round(10 * share)));
      rows.push({
        what: `a model call of ${tokens} tokens, processor time: own client${withPeers ? ', AI SDK' : ''}`,
        measured: times.map((time) => `${time.toFixed(2)} ms`).join(', '),
      });
    }
    return rows;
  } finally {
    for (const client of clients) client.kill('SIGTERM');
    await model.stop();
  }
}

/** The median round of each, after one that does not count. */
async function inTurns(clients: readonly ChildProcess[], calls: Calls, rounds: number): Promise<number[]> {
  const times = clients.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [at, client] of clients.entries()) {
      client.send(calls);
      const [milliseconds] = (await once(client, 'message')) as [number];
      if (round > 0) times[at]?.push(milliseconds);
    }
  }
  return times.map((each) =>
    percentile(
      each.sort((a, b) => a - b),
      0.5,
    ),
  );
}

async function installAiSdk(home: string): Promise<string> {
  await installPackages(packages, home);
  const script = join(home, 'ai-sdk.mjs');
  await copyFile(join(import.meta.dirname, 'peers', 'ai-sdk.mjs'), script);
  return script;
}

function start(script: string, baseUrl: string): ChildProcess {
  const child = fork(script, [baseUrl], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  endWithUs(child);
  return child;
}

if (import.meta.main) {
  const baseUrl = process.argv[2] as string;
  const compatible = { apiKey: null, baseUrl, models: ['scripted'], price: null, maxOutputTokens: null };
  const none = { anthropic: null, openai: null, google: null, own: [], defaultModel: null };
  const model = createModels({ ...none, compatible }).model('compatible/scripted');
  process.on('message', async ({ message, count }: Calls) => {
    const before = process.cpuUsage();
    for (let call = 0; call < count; call++) {
      const stream = model.stream({
        model: 'compatible/scripted',
        system: ['Be brief.'],
        messages: [{ role: 'user', parts: [{ kind: 'text', text: message }] }],
        tools: [],
        signal: new AbortController().signal,
      });
      let isComplete = false;
      for await (const event of stream) isComplete = event.type === 'end';
      if (!isComplete) throw new Error('The answer has no end.');
    }
    const { user, system } = process.cpuUsage(before);
    process.send?.((user + system) / 1000 / count);
  });
}
