import type { Tool } from '@vestra/agent/tool';
import { describe, expect, it } from 'vitest';
import type { RunTools } from './ports.ts';
import { simulateTools } from './simulated-tools.ts';

const serverTool = (isReadOnly: boolean): Tool => ({
  definition: { name: 'mcp__shop__find', description: 'Finds.', inputSchema: { type: 'object' } },
  origin: { from: 'server', name: 'find', floor: { deny: [], require_approval: [] }, policy: null, isReadOnly },
  server: 'shop',
  effect: { kind: 'run' },
});
const agentTool = (name: string): Tool => ({
  definition: { name, description: 'Does.', inputSchema: { type: 'object' } },
  origin: { from: 'agent', isReadOnly: false },
  server: null,
  effect: { kind: 'run' },
});

const ran: string[] = [];
const real = {
  all: [],
  priceOf: () => 1,
  run: async (call: { name: string }) => {
    ran.push(call.name);
    return { kind: 'result', output: 'ran for real', isError: false };
  },
} as unknown as RunTools;
const recorded = [{ tool: '', arguments: { id: 1 }, result: 'as it was', is_error: false }];
const history = { remembered: async () => [], called: async () => [], recorded: async () => recorded };

const answerOf = async (script: Parameters<typeof simulateTools>[0], tool: Tool, id: number) => {
  ran.length = 0;
  const tools = simulateTools(script, real, history);
  const call = { id: 'c', name: tool.definition.name, arguments: { id } };
  const answer = await tools.run(call, tool, new AbortController().signal, {} as never);
  return [(answer as { output: string }).output, ran.length, tools.priceOf(tool)];
};

describe('in a replay', () => {
  const replay = { tool_results: {}, replay_of: 'conv_1' };
  const notRecorded = expect.stringContaining('no call with these arguments was recorded');

  it.each([
    ['a read-only tool of a server', serverTool(true)],
    ['a tool of a server that changes data', serverTool(false)],
    ['the browser', agentTool('browser_open')],
    ['the computer', agentTool('run_command')],
    ['reading an attached file', agentTool('read_conversation_file')],
    ['connecting an app', agentTool('connect_app')],
  ])('never runs %s: returns the recorded answer or an error [TRUN-422]', async (_what, tool) => {
    expect(await answerOf(replay, tool, 1)).toEqual(['as it was', 0, null]);
    expect(await answerOf(replay, tool, 2)).toEqual([notRecorded, 0, null]);
  });

  it('searches notebooks, and simulates remember and recall [TRUN-422]', async () => {
    expect(await answerOf(replay, agentTool('search_notebooks'), 2)).toEqual(['ran for real', 1, 1]);
    expect(await answerOf(replay, agentTool('remember'), 2)).toEqual(['Remembered.', 0, null]);
    expect(await answerOf(replay, agentTool('recall'), 2)).toEqual(['You remember nothing about this.', 0, null]);
  });
});

it('calls a read-only tool in a test unless the script has recorded calls of it [TRUN-010, TRUN-420]', async () => {
  const scripted = {
    tool_results: {},
    recorded_calls: [{ tool: 'shop.find', arguments: { id: 1 }, result: { day: 1 } }],
  };
  expect(await answerOf({ tool_results: {} }, serverTool(true), 1)).toEqual(['ran for real', 1, 1]);
  expect(await answerOf(scripted, serverTool(true), 1)).toEqual(['{"day":1}', 0, null]);
  expect((await answerOf(scripted, serverTool(true), 2)).slice(1)).toEqual([0, null]);
});
