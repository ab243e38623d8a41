import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outbound, serve } from '../../platform/outbound/loopback.fixture.ts';
import { createMcpClient, type McpClient } from './mcp-client.ts';
import {
  newFolder,
  officialClient,
  startEverything,
  startFilesystem,
  startMemory,
  startPlaywright,
} from './real-servers.fixture.ts';

const signal = new AbortController().signal;
type Options = Partial<Parameters<McpClient['callTool']>[2]>;

/** Our client in one conversation with the server. */
async function ourClient(url: string) {
  const client = createMcpClient({ fetch: outbound().webFetch, version: '1' });
  const target = { url, headers: {} };
  const sessions = client.keepSessions('conv_1');
  const listed = await client.listTools(target, { signal, mayAskModel: true });
  if (!listed.ok) throw new Error(listed.message);
  return {
    listed,
    sessions,
    async call(name: string, args: Record<string, unknown> = {}, options: Options = {}) {
      const inputSchema = listed.tools.find((each) => each.name === name)?.inputSchema ?? {};
      const how = { signal, hide: (text: string) => text, sessions, ...options };
      return client.callTool(target, { name, arguments: args, inputSchema }, how);
    },
    async text(name: string, args: Record<string, unknown> = {}, options: Options = {}) {
      const answer = await this.call(name, args, options);
      if (!answer.ok) throw new Error(answer.message);
      return 'text' in answer ? answer.text : JSON.stringify(answer);
    },
  };
}

type Content = { content: { type: string; text?: string }[] };
const textOf = (result: unknown) =>
  (result as Content).content
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('\n');

const servers = {
  everything: startEverything,
  filesystem: async () => startFilesystem(await newFolder()),
  memory: startMemory,
  playwright: startPlaywright,
};

describe.each(Object.entries(servers))('the server %s', (_name, start) => {
  it('offers our client the tools that it offers the official one [MCPS-700, MCPS-701]', async () => {
    const url = await start();
    const { tools } = await (await officialClient(url)).listTools();
    const { listed } = await ourClient(url);
    const usable = tools.filter(({ execution }) => execution?.taskSupport !== 'required');
    expect(listed.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))).toEqual(
      usable.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    );
    expect(listed.unusable.map(({ name }) => name)).toEqual(
      tools.filter((tool) => !usable.includes(tool)).map(({ name }) => name),
    );
  });
});

it('the server everything gives the same results to both clients [MCPS-700]', async () => {
  const url = await startEverything();
  const official = await officialClient(url);
  const ours = await ourClient(url);
  expect(ours.listed.instructions).toBe(official.getInstructions()?.trim());
  for (const [name, args] of [
    ['echo', { message: 'Grüße' }],
    ['get-sum', { a: 2, b: 40 }],
    ['get-annotated-message', { messageType: 'error', includeImage: false }],
    ['get-structured-content', { location: 'Chicago' }],
  ] as const) {
    expect(await ours.text(name, args)).toBe(textOf(await official.callTool({ name, arguments: args })));
  }
  const picture = await ours.call('get-tiny-image');
  expect(picture).toMatchObject({ media: [{ mediaType: 'image/png' }], text: expect.not.stringMatching(/iVBOR/) });
});

it('the server everything asks the person and a model on its stream [MCPS-703]', async () => {
  const ours = await ourClient(await startEverything());
  const asking = { answers: {}, given: {}, state: null };
  const sample = async () => ({ text: 'A model says this.', model: 'test', isCut: false });
  const sampled = await ours.text('trigger-sampling-request', { prompt: 'Hi', maxTokens: 10 }, { asking, sample });
  expect(sampled).toContain('A model says this.');
  const asked = await ours.call('trigger-elicitation-request', {}, { asking, sample, isRepeatable: true });
  expect(asked).toMatchObject({ ok: true, asked: { isHeld: true } });
  const { questions } = (asked as unknown as { asked: { questions: Record<string, { fields: object }> } }).asked;
  const [key] = Object.keys(questions) as [string];
  const answers = { [key]: { action: 'accept' as const, content: { name: 'Ada' } } };
  const answered = { ...asking, answers };
  expect(await ours.text('trigger-elicitation-request', {}, { asking: answered, sample })).toContain('Ada');
});

it('the server everything reports progress [MCPS-705]', async () => {
  const ours = await ourClient(await startEverything());
  const reports: string[] = [];
  const args = { duration: 0.4, steps: 4 };
  await ours.text('trigger-long-running-operation', args, { onProgress: (text) => reports.push(text) });
  expect(reports).toEqual(['25 %', '50 %', '75 %', '100 %']);
});

it('the server filesystem gives texts and pictures once, and no bytes as text [MCPS-710]', async () => {
  const folder = await newFolder();
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await writeFile(join(folder, 'a.txt'), 'Hello there.\n');
  await writeFile(join(folder, 'a.png'), Buffer.from(pixel, 'base64'));
  const url = await startFilesystem(folder);
  const official = await officialClient(url);
  const ours = await ourClient(url);
  const read = { path: join(folder, 'a.txt') };
  expect(await ours.text('read_text_file', read)).toBe(
    textOf(await official.callTool({ name: 'read_text_file', arguments: read })),
  );
  const picture = await ours.call('read_media_file', { path: join(folder, 'a.png') });
  expect(picture).toMatchObject({ ok: true, isError: false, media: [{ mediaType: 'image/png' }] });
  expect((picture as { text: string }).text).toMatch(/^\[image image\/png, \d+ bytes\]$/);
  expect((picture as unknown as { media: unknown[] }).media).toHaveLength(1);
});

it('the server memory gives the same results to both clients [MCPS-700]', async () => {
  const url = await startMemory();
  const ours = await ourClient(url);
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }];
  await ours.text('create_entities', { entities });
  const official = await officialClient(url);
  const args = { query: 'Ada' };
  expect(await ours.text('search_nodes', args)).toBe(
    textOf(await official.callTool({ name: 'search_nodes', arguments: args })),
  );
  expect(await ours.text('read_graph')).toContain('likes tea');
});

it('the server playwright keeps its page between calls [MCPS-702]', async () => {
  const site = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<title>Shop</title><h1>Tea shop</h1><button>Buy</button>');
  });
  const ours = await ourClient(await startPlaywright());
  expect(await ours.text('browser_navigate', { url: site.url })).toContain('Shop');
  expect(await ours.text('browser_snapshot')).toContain('Tea shop');
  const shot = await ours.call('browser_take_screenshot', { type: 'png' });
  expect(shot).toMatchObject({ ok: true, isError: false, media: [{ mediaType: 'image/png' }] });
  ours.sessions.close();
});
