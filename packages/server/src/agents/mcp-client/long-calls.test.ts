import { expect, it } from 'vitest';
import { outbound, unusedPort } from '../../platform/outbound/loopback.fixture.ts';
import { createMcpClient } from './mcp-client.ts';
import { serveMcp, tool } from './mcp-server.fixture.ts';
import type { TaskHandle } from './server-question.ts';
import { slowTool } from './server-task.fixture.ts';

const asking = { answers: {}, given: {}, state: null };
const secret = 'hunter2-hunter2';
const hide = (text: string) => text.replaceAll(secret, '[secret]');

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

it('a call that its server goes on with comes back with a handle, and then with what the task says [MCPS-442]', async () => {
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

it('a server that is away for a while is asked again, later and later, and given up in the end [MCPS-442]', async () => {
  const handle = { taskId: 'task-7', answered: [], unheard: 3 };
  const away = `http://127.0.0.1:${await unusedPort()}/mcp`;
  expect(await call(away, handle)).toEqual({
    ok: true,
    underWay: { handle: { ...handle, unheard: 4 }, askAgainMs: 8_000 },
  });
  expect(await call(away, { ...handle, unheard: 20 })).toMatchObject({ ok: false });
});

it('what a task asks the person goes to them, the answer to the task, and neither twice [MCPS-442]', async () => {
  const requestedSchema = { type: 'object', properties: { paper: { type: 'string' } } };
  const wish = { method: 'elicitation/create', params: { message: 'Which paper?', requestedSchema } };
  const { url, handle, heard } = await begun({ status: 'input_required', inputRequests: { paper: wish } });
  const first = await call(url, handle);
  expect(first).toMatchObject({ ok: true, asked: { questions: { paper: { message: 'Which paper?' } }, task: handle } });
  const answers = { ...asking, answers: { paper: { action: 'accept' as const, content: { paper: 'A4' } } } };
  const told = await call(url, handle, answers);
  // The server still shows the question, since it has not read the answer yet.
  expect(told).toMatchObject({ underWay: { handle: { answered: ['paper'] } } });
  expect(heard.updates).toEqual([answers.answers]);
});
