import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Called, serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { heardSince, startTalk, type Talk } from './conversations.fixture.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await startTalk();
});
afterAll(() => talk.stop());

let at = 0;
let name: string;
beforeEach(() => {
  at += 1;
  name = `answering-${at}`;
});

const readOnly = { annotations: { readOnlyHint: true } };
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

async function apply(call: Called, more: object = {}) {
  const { url } = await serveMcp('2025 with sessions', [tool('act', { ...readOnly, ...more })], {
    call,
    instructions: 'Call act before anything else.',
  });
  await talk.apply({ name, memory: 'none', tools: [{ mcp: url, name }] });
}
const call = (args: object = {}) => ({ name: `mcp__${name}__act`, arguments: args });

describe('an agent with a tool server', () => {
  it('opens a file that a tool returned, in the same reply and in the next one [MCPS-715]', async () => {
    const blob = Buffer.from('%CSV\na;b\n1;2\n').toString('base64');
    await apply(() => ({
      content: [
        { type: 'resource', resource: { uri: 'file:///out/table.csv', mimeType: 'application/x-table', blob } },
      ],
    }));
    const read = { name: 'read_conversation_file', arguments: { filename: 'table.csv' } };
    talk.script((request) => {
      const heard = heardSince(request);
      if (heard.length === 0) return { calls: [call()] };
      return heard.length === 1 ? { calls: [read] } : { text: heard.map(({ output }) => output).join('\n') };
    });
    const { id } = await talk.begin({ deployment: name });
    const { reply } = await talk.tell(id, 'Export.');
    expect(reply.text).toContain('table.csv is a file of this conversation now');
    expect(reply.text).toContain('1;2');
    talk.script((request) => {
      const [heard] = heardSince(request);
      return heard ? { text: heard.output } : { calls: [read] };
    });
    expect((await talk.tell(id, 'Read it again.')).reply.text).toContain('1;2');
  });

  it('shows the progress of a call as events [MCPS-705]', async () => {
    await apply(async (_name, _args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken as number;
      const params = { progressToken, progress: 1, total: 2, message: 'Half of it' };
      await mcpReq.notify({ method: 'notifications/progress', params });
      await seen;
      return text('done');
    });
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    talk.script((request) => (heardSince(request).length === 0 ? { calls: [call()] } : { text: 'Done.' }));
    const { id } = await talk.begin({ deployment: name });
    await talk.send(id, { message: 'Act.' });
    type Listed = { data: { type: string; data: unknown }[] };
    const isShown = ({ data }: Listed) => data.some(({ type }) => type === 'tool_call.progress');
    const { data } = await talk.until(`/v1/conversations/${id}/events?format=json&limit=100`, isShown);
    see();
    expect((data as Listed['data']).find(({ type }) => type === 'tool_call.progress')?.data).toMatchObject({
      name: `mcp__${name}__act`,
      text: 'Half of it',
    });
    await talk.rest(id);
  });

  it('reads the instructions of the server as data, and has its defaults filled in [MCPS-712, MCPS-720]', async () => {
    const inputSchema = {
      type: 'object' as const,
      properties: { scale: { type: 'string', default: 'css' }, note: { type: 'string' } },
      required: ['scale'],
    };
    await apply((_name, args) => text(JSON.stringify(args)), { inputSchema });
    let prompt = '';
    talk.script((request) => {
      prompt = JSON.stringify(request);
      const [heard] = heardSince(request);
      return heard ? { text: heard.output } : { calls: [call({ note: null })] };
    });
    const { id } = await talk.begin({ deployment: name });
    expect((await talk.tell(id, 'Act.')).reply.text).toContain('{"scale":"css"}');
    expect(prompt).toMatch(/<data-\w+ of=\\"tool server answering-\d\\">\\nCall act before anything else\.\\n<\/data-/);
  });
});
