import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Message } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';
import { expect, it } from 'vitest';
import { outcomeOf, startRawEndpoint, weather, writing } from './raw-endpoint.fixture.ts';

const root = join(import.meta.dirname, '../../../..');

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });
const asked: Message[] = [
  user('Weather?'),
  { role: 'agent', text: 'I look.', calls: [{ id: 'a', name: 'get_weather', arguments: { city: 'Bonn' } }] },
  { role: 'tool', results: [{ callId: 'a', name: 'get_weather', output: 'Sun.', isError: false }] },
];
const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const file = { kind: 'file' as const, filename: 'a.pdf', mediaType: 'application/pdf', bytes: new Uint8Array(8) };

const requests: Partial<ModelRequest>[] = [
  { system: ['One.', 'Two.', 'Three.'] },
  { messages: [user('Hi'), { role: 'agent', text: 'Hello.', calls: [] }, user('Go on')], maxOutputTokens: 100 },
  { messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Read.' }, file] }] },
  { messages: asked, tools: [weather, { ...weather, name: 'bare', inputSchema: { type: 'object' } }] },
  { messages: [...asked, user('A note.')], tools: [{ ...weather, inputSchema: {} }] },
  { outputSchema: closed },
  { outputSchema: { type: 'object' }, tools: [weather] },
];

/** Type names, and their module in the `openai` package. */
const published = {
  openai: ['ResponseCreateParamsStreaming', 'openai/resources/responses/responses'],
  compatible: ['ChatCompletionCreateParamsStreaming', 'openai/resources/chat/completions'],
} as const;

it("sends bodies that match the types of OpenAI's own client [MOD-635]", async () => {
  const endpoint = await startRawEndpoint();
  const lines = Object.values(published).map(([type, path]) => `import type { ${type} } from '${path}';`);
  for (const vendor of ['openai', 'compatible'] as const) {
    for (const request of requests) {
      endpoint.respond(writing(['']));
      await outcomeOf(endpoint.stream(vendor, request, { attempts: 1 }));
      expect(endpoint.bodies).toHaveLength(1);
      const body = JSON.stringify(endpoint.bodies[0]);
      lines.push(`export const body${lines.length}: ${published[vendor][0]} = ${body};`);
    }
  }
  await endpoint.close();
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'types-'));
  try {
    const source = join(folder, 'bodies.ts');
    await writeFile(source, lines.join('\n'));
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--ignoreConfig',
      '--module',
      'nodenext',
      '--types',
      'node',
    ];
    const run = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [...options, source], { cwd: root });
    expect((await run.catch((error: { stdout: string }) => error)).stdout).toBe('');
  } finally {
    await rm(folder, { recursive: true });
  }
});
