import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { endless, outbound, serve, unusedPort } from '../../platform/outbound/loopback.fixture.ts';
import { createMcpClient } from './mcp-client.ts';
import { type Called, generations, serveMcp, tool } from './mcp-server.fixture.ts';
import type { TaskHandle } from './server-requests.ts';
import { slowTool } from './server-task.fixture.ts';

type Options = {
  name?: string;
  args?: Record<string, unknown>;
  inputSchema?: Record<string, unknown>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  timeoutMs?: number;
};

const secret = 'hunter2-hunter2';
const hide = (text: string) => text.replaceAll(secret, '[secret]');

function callTool(url: string, { name = 'refund', args = {}, headers = {}, signal, timeoutMs, ...rest }: Options = {}) {
  const client = createMcpClient({ fetch: outbound().webFetch, version: '1' });
  return client.callTool(
    { url, headers },
    { name, arguments: args, inputSchema: rest.inputSchema ?? { type: 'object' } },
    { signal: signal ?? new AbortController().signal, hide, ...(timeoutMs !== undefined && { timeoutMs }) },
  );
}

const answering = async (result: CallToolResult) => {
  const { url } = await serveMcp('2026', [tool('refund')], { call: () => result });
  return callTool(url);
};

describe.each(generations)('a tool of a server of generation %s', (generation) => {
  it('is called with its arguments and the headers, and its session ends', async () => {
    const calls: unknown[] = [];
    const call: Called = (name, args) => {
      calls.push([name, args]);
      return { content: [{ type: 'text', text: `Paid back ${args.order}.` }] };
    };
    const { url, requests, sessions } = await serveMcp(generation, [tool('refund')], { call });
    const answer = await callTool(url, { args: { order: '7', nested: { a: [1, null] } }, headers: { 'X-Key': 'abc' } });
    expect(answer).toEqual({ ok: true, text: 'Paid back 7.', isError: false });
    expect(calls).toEqual([['refund', { order: '7', nested: { a: [1, null] } }]]);
    expect(requests.every(({ headers }) => headers['x-key'] === 'abc')).toBe(true);
    expect(sessions.size).toBe(0);
  });

  it('that fails returns its own error', async () => {
    const call: Called = () => ({ content: [{ type: 'text', text: 'No such order.' }], isError: true });
    const { url } = await serveMcp(generation, [tool('refund')], { call });
    expect(await callTool(url)).toEqual({ ok: true, text: 'No such order.', isError: true });
  });

  it('that refuses its arguments is quoted without secrets', async () => {
    const call: Called = () => {
      throw new ProtocolError(-32602, `\`order\` is missing, ${secret}`);
    };
    const { url } = await serveMcp(generation, [tool('refund')], { call });
    expect(await callTool(url)).toEqual({
      ok: false,
      code: 'mcp_server_error',
      message: '127.0.0.1 answered with the MCP error -32602. It says: `order` is missing, [secret]',
    });
  });
});

describe('media in a tool answer', () => {
  const answering = async (content: object[]) => {
    const call = (() => ({ content })) as unknown as Called;
    const { url } = await serveMcp('2026', [tool('look')], { call });
    return callTool(url, { name: 'look' });
  };
  const data = Buffer.from('bytes').toString('base64');

  it('includes images, audio and such resources [PIC-006]', async () => {
    const answer = await answering([
      { type: 'text', text: 'Look:' },
      { type: 'image', mimeType: 'image/PNG', data },
      { type: 'audio', mimeType: 'audio/wav', data },
      { type: 'resource', resource: { uri: 'a://chart', mimeType: 'image/webp', blob: data } },
      { type: 'resource', resource: { uri: 'a://table', mimeType: 'text/csv', text: 'a,b' } },
      { type: 'resource', resource: { uri: 'a://zip', mimeType: 'application/zip', blob: data } },
    ]);
    const content = Buffer.from('bytes');
    expect(answer).toMatchObject({
      text: expect.stringContaining('[image image/PNG, 6 bytes]'),
      media: [
        { mediaType: 'image/png', content },
        { mediaType: 'audio/wav', content },
        { mediaType: 'image/webp', content },
      ],
    });
  });

  it('gives a picture once, and no base64 as text [MCPS-710]', async () => {
    const png = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      Buffer.alloc(600, 'aB3'),
    ]);
    const data = png.toString('base64');
    const image = { type: 'image' as const, mimeType: 'image/png', data };
    const structuredContent = { content: [image], more: { preview: data, name: 'chart' } };
    const call = (() => ({
      content: [image, { type: 'text', text: `{"shot":"data:image/png;base64,${data}","other":"${data}"}` }],
      structuredContent,
    })) as unknown as Called;
    const { url } = await serveMcp('2026', [tool('look')], { call });
    const answer = await callTool(url, { name: 'look' });
    expect(answer).toMatchObject({ media: [{ mediaType: 'image/png', content: png }] });
    expect((answer as unknown as { media: unknown[] }).media).toHaveLength(1);
    expect((answer as { text: string }).text).toBe(
      [
        '[image image/png, 609 bytes]',
        '{"shot":"[image/png, 609 bytes]","other":"[image/png, 609 bytes]"}',
        '{"content":[{"type":"image","mimeType":"image/png","data":"[609 bytes]"}],"more":{"preview":"[609 bytes]","name":"chart"}}',
      ].join('\n'),
    );
  });

  it('is a picture also if the server wrote it into its text [MCPS-710]', async () => {
    const png = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      Buffer.alloc(600, 'aB3'),
    ]);
    const answer = await answering([{ type: 'text', text: `Here: ${png.toString('base64')}` }]);
    expect(answer).toMatchObject({ text: 'Here: [image/png, 609 bytes]', media: [{ mediaType: 'image/png' }] });
  });

  it('is read in linear time, also with an endless address of data [HRD-711]', async () => {
    const text = `data:a/b${';x'.repeat(50_000)}${'sV'.repeat(100_000)}`;
    expect(await answering([{ type: 'text', text }])).toMatchObject({ text: expect.stringContaining('data:a/b;x;x') });
  });

  it('and other bytes are files with a name, and text in bytes is text [MCPS-715]', async () => {
    const blob = (content: string) => Buffer.from(content).toString('base64');
    const answer = await answering([
      { type: 'resource', resource: { uri: 'a://x/report%20a.pdf?b#c', mimeType: 'application/pdf', blob: data } },
      { type: 'resource', resource: { uri: 'a://x/../', blob: data } },
      { type: 'resource', resource: { uri: 'a://a.json', mimeType: 'application/json', blob: blob('{"a":1}') } },
      { type: 'resource', resource: { uri: 'a://a.csv', mimeType: 'text/csv', blob: blob('a,ü') } },
    ]);
    const content = Buffer.from('bytes');
    expect(answer).toMatchObject({
      text: [
        '[resource a://x/report%20a.pdf?b#c application/pdf, 6 bytes]',
        '[resource a://x/../, 6 bytes]',
        '[resource a://a.json application/json]\n{"a":1}',
        '[resource a://a.csv text/csv]\na,ü',
      ].join('\n'),
      files: [
        { filename: 'report_a.pdf', content },
        { filename: 'resource.bin', content },
      ],
    });
  });

  it('is bounded in number [PIC-006]', async () => {
    const many = Array.from({ length: 1000 }, () => ({ type: 'image', mimeType: 'image/png', data }));
    expect(await answering(many)).toMatchObject({ ok: true, media: { length: 16 } });
  });
});

it('sends arguments as headers if the schema asks for it', async () => {
  const inputSchema = {
    type: 'object' as const,
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  };
  const { url, requests } = await serveMcp('2026', [tool('refund', { inputSchema })], {
    call: () => ({ content: [{ type: 'text', text: 'ok' }] }),
  });
  expect(await callTool(url, { args: { region: 'eu' }, inputSchema })).toMatchObject({ ok: true, text: 'ok' });
  expect(requests.at(-1)?.headers).toMatchObject({ 'mcp-param-region': 'eu' });
});

describe('an answer [MCPS-711]', () => {
  it.each<[string, CallToolResult, string]>([
    [
      'of several texts is one',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: '' },
          { type: 'text', text: 'b' },
        ],
      },
      'a\nb',
    ],
    [
      'of data alone is JSON',
      { content: [], structuredContent: { total: 7, of: [secret] } },
      '{"total":7,"of":["[secret]"]}',
    ],
    [
      'of a summary and data is both',
      { content: [{ type: 'text', text: 'Found 2 rows.' }], structuredContent: { rows: [{ id: 41 }, { id: 42 }] } },
      'Found 2 rows.\n{"rows":[{"id":41},{"id":42}]}',
    ],
    [
      'of data and its text is the text',
      { content: [{ type: 'text', text: '{ "a": 1 }' }], structuredContent: { a: 1 } },
      '{ "a": 1 }',
    ],
    [
      'of a text that says all of the data is the text',
      { content: [{ type: 'text', text: 'Line 1\nLine 2' }], structuredContent: { content: 'Line 1\nLine 2' } },
      'Line 1\nLine 2',
    ],
    ['of nothing says so', { content: [] }, 'The tool answered with nothing.'],
    [
      'of bytes names them',
      {
        content: [
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          { type: 'audio', data: 'AAAABBBB', mimeType: 'audio/wav' },
          { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AAAA', mimeType: 'x/y' } },
        ],
      },
      '[image image/png, 3 bytes]\n[audio audio/wav, 6 bytes]\n[resource file:///a.bin x/y, 3 bytes]',
    ],
    [
      'of resources names them, and shows those that are text',
      {
        content: [
          { type: 'resource_link', uri: 'file:///a.txt', name: `a\nb${secret}` },
          { type: 'resource', resource: { uri: 'file:///b.txt', text: 'Hello.' } },
        ],
      },
      '[resource file:///a.txt a b[secret]]\n[resource file:///b.txt]\nHello.',
    ],
  ])('%s', async (_what, result, text) => {
    expect(await answering(result)).toMatchObject({ ok: true, text, isError: false });
  });

  it('is cut without splitting a secret', async () => {
    const answer = await answering({
      content: [{ type: 'text', text: `${'x'.repeat(98_995)}${secret}${'y'.repeat(5_000)}` }],
    });
    expect(answer).toEqual({
      ok: true,
      isError: false,
      text: `${'x'.repeat(98_995)}[secr\n[Cut: the answer has 104003 characters, of which these are the first 99000.]`,
    });
    // The agent's loop would cut a longer text and remove the notice.
    expect(answer.ok && 'text' in answer && answer.text.length).toBeLessThan(100_000);
  });
});

describe('a call', () => {
  it('throws only if its signal aborts', async () => {
    const { url } = await serveMcp('2026', [tool('refund')], { call: () => new Promise(() => {}) });
    const controller = new AbortController();
    const calling = callTool(url, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('stopped by the user')), 200);
    await expect(calling).rejects.toThrow('stopped by the user');
    await expect(callTool(url, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
    expect(await callTool(url, { timeoutMs: 300 })).toEqual({
      ok: false,
      code: 'timeout',
      message: '127.0.0.1 took too long.',
    });
  });

  it('of a server that is down, refuses or disconnects is a failure', async () => {
    const failed = { ok: false, code: 'mcp_server_error' };
    expect(await callTool(`http://127.0.0.1:${await unusedPort()}/mcp`)).toMatchObject(failed);
    const refusing = await serve((_request, response) => void response.writeHead(401).end(secret));
    expect(await callTool(refusing.url)).toMatchObject({ ...failed, message: expect.stringContaining('answered 401') });
    const broken = await serveMcp('2026', [tool('refund')], {
      call: () => {
        for (const socket of broken.sockets) socket.destroy();
        return new Promise(() => {});
      },
    });
    expect(await callTool(broken.url, { timeoutMs: 3000 })).toMatchObject({ ok: false });
  });

  it('is cut off if the answer is endless', async () => {
    const { url, sockets } = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      endless(Buffer.from(' '.repeat(65_536)))(request, response);
    });
    expect(await callTool(url)).toEqual({
      ok: false,
      code: 'mcp_server_error',
      message: '127.0.0.1 sent more than 8388608 bytes.',
    });
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });
});

const asking = { answers: {}, given: {}, state: null };

function call(url: string, following?: TaskHandle, answers: typeof asking = asking) {
  const called = { name: 'report', arguments: {}, inputSchema: { type: 'object' } };
  const signal = new AbortController().signal;
  const client = createMcpClient({ fetch: outbound().webFetch, version: '1' });
  return client.callTool({ url, headers: {} }, called, { signal, hide, asking: answers, following });
}

async function begun(task: Parameters<typeof slowTool>[0] = { status: 'working' }) {
  const slow = slowTool(task);
  const { url } = await serveMcp('2026', [tool('report')], slow.parts);
  const first = await call(url);
  if (!first.ok || !('underWay' in first)) throw new Error(`Not under way: ${JSON.stringify(first)}`);
  return { ...slow, url, handle: first.underWay.handle };
}

it('a call that continues as a task returns a handle, and then the result of the task [MCPS-442]', async () => {
  const { url, handle, task, heard } = await begun();
  expect(await call(url, handle)).toMatchObject({ ok: true, underWay: { handle, askAgainMs: 500 } });
  Object.assign(task, { status: 'completed', result: { content: [{ type: 'text', text: `Done, ${secret}.` }] } });
  expect(await call(url, handle)).toEqual({ ok: true, text: 'Done, [secret].', isError: false });
  expect(heard).toMatchObject({ calls: 1, polls: 2 });
});

it.each([
  [
    'failed',
    { status: 'failed', error: { code: -32000, message: `No paper, ${secret}` } },
    /MCP error -32000.*No paper, \[secret\]/,
  ],
  ['cancelled', { status: 'cancelled' }, /cancelled the call/],
  ['answered with nonsense', { status: 'completed', result: 'yes' }, /no answer of a tool/],
])('a task that was %s is an error [MCPS-442]', async (_what, then, said) => {
  const { url, handle, task } = await begun();
  Object.assign(task, then);
  expect(JSON.stringify(await call(url, handle))).toMatch(said);
});

it('an unreachable server is polled at growing intervals and finally given up [MCPS-442]', async () => {
  const handle = { taskId: 'task-7', answered: [], unheard: 3 };
  const away = `http://127.0.0.1:${await unusedPort()}/mcp`;
  expect(await call(away, handle)).toEqual({
    ok: true,
    underWay: { handle: { ...handle, unheard: 4 }, askAgainMs: 8_000 },
  });
  expect(await call(away, { ...handle, unheard: 20 })).toMatchObject({ ok: false });
});

it('a question of a task reaches the person once, and the answer reaches the task once [MCPS-442]', async () => {
  const requestedSchema = { type: 'object', properties: { paper: { type: 'string' } } };
  const wish = { method: 'elicitation/create', params: { message: 'Which paper?', requestedSchema } };
  const { url, handle, heard } = await begun({ status: 'input_required', inputRequests: { paper: wish } });
  const first = await call(url, handle);
  expect(first).toMatchObject({ ok: true, asked: { questions: { paper: { message: 'Which paper?' } }, task: handle } });
  const answers = { ...asking, answers: { paper: { action: 'accept' as const, content: { paper: 'A4' } } } };
  const told = await call(url, handle, answers);
  // The server still lists the question, because it has not read the answer yet.
  expect(told).toMatchObject({ underWay: { handle: { answered: ['paper'] } } });
  expect(heard.updates).toEqual([answers.answers]);
});
