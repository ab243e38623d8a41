import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { type RunningServer, startServerProcess } from './server-process.ts';

export type BatchFigures = { items: number; seconds: number };

/** From the call that makes a batch to its end, with a model that answers at once and a user for each item. */
export async function measureBatches(dataDir: string, port: number, items = 5000): Promise<BatchFigures> {
  const model = await startScriptedModelServer({
    respond: () => ({ text: 'Done.', usage: { inputTokens: 500, outputTokens: 20 } }),
  });
  const server = await startServerProcess(dataDir, port, {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
  });
  try {
    await call(server, 'PUT', '/v1/deployments/bench?promote=now', {
      name: 'bench',
      instructions: 'Be brief.',
      memory: 'none',
    });
    await run(server, 200);
    return { items, seconds: await run(server, items) };
  } finally {
    await server.stop();
    await model.close();
  }
}

async function run(server: RunningServer, count: number): Promise<number> {
  const items = Array.from({ length: count }, (_, at) => ({
    user_id: `user-${at}`,
    message: `Write the summary of order ${at}.`,
    metadata: { order: String(at) },
  }));
  const startedAt = performance.now();
  const made = (await call(server, 'POST', '/v1/batches', { items, concurrency: 100 })) as Batch;
  for (let batch = made; ; ) {
    if (batch.completed_at !== null) {
      if (batch.counts.succeeded !== count) throw new Error(`the batch ended as ${JSON.stringify(batch)}`);
      return (performance.now() - startedAt) / 1000;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    batch = (await call(server, 'GET', `/v1/batches/${made.id}`)) as Batch;
  }
}

type Batch = { id: string; completed_at: string | null; counts: { succeeded: number } };

async function call(server: RunningServer, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.testKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
