import type { Tool } from '@vestra/agent/tool';
import { describe, expect, it } from 'vitest';
import type { RunTools } from './ports.ts';
import { pretendTools } from './simulated-tools.ts';

const ofServer = (isReadOnly: boolean): Tool => ({
  definition: { name: 'mcp__shop__find', description: 'Finds.', inputSchema: { type: 'object' } },
  origin: { from: 'server', name: 'find', floor: { deny: [], require_approval: [] }, policy: null, isReadOnly },
  server: 'shop',
  effect: { kind: 'run' },
});
const ofAgent = (name: string): Tool => ({
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
const before = { remembered: async () => [], called: async () => [], recorded: async () => recorded };

const answerOf = async (script: Parameters<typeof pretendTools>[0], tool: Tool, id: number) => {
  ran.length = 0;
  const tools = pretendTools(script, real, before);
  const call = { id: 'c', name: tool.definition.name, arguments: { id } };
  const answer = await tools.run(call, tool, new AbortController().signal, {} as never);
  return [(answer as { output: string }).output, ran.length, tools.priceOf(tool)];
};

describe('in a replay', () => {
  const replay = { tool_results: {}, replay_of: 'conv_1' };
  const notRecorded = expect.stringContaining('no call with these arguments was recorded');

  it.each([
    ['a tool of a server that only reads', ofServer(true)],
    ['a tool of a server that changes something', ofServer(false)],
    ['the browser', ofAgent('browser_open')],
    ['the computer', ofAgent('run_command')],
    ['files that were sent along', ofAgent('read_conversation_file')],
    ['the connection of an app', ofAgent('connect_app')],
  ])('%s is never run: it answers as it did, or that this was not recorded [TRUN-422]', async (_what, tool) => {
    expect(await answerOf(replay, tool, 1)).toEqual(['as it was', 0, null]);
    expect(await answerOf(replay, tool, 2)).toEqual([notRecorded, 0, null]);
  });

  it('what the org has written is read, and nothing is remembered [TRUN-422]', async () => {
    expect(await answerOf(replay, ofAgent('search_notebooks'), 2)).toEqual(['ran for real', 1, 1]);
    expect(await answerOf(replay, ofAgent('remember'), 2)).toEqual(['Remembered.', 0, null]);
    expect(await answerOf(replay, ofAgent('recall'), 2)).toEqual(['You remember nothing about this.', 0, null]);
  });
});

it('in a test a tool that only reads runs for real, unless a call of it is recorded [TRUN-010, TRUN-420]', async () => {
  const played = {
    tool_results: {},
    recorded_calls: [{ tool: 'shop.find', arguments: { id: 1 }, result: { day: 1 } }],
  };
  expect(await answerOf({ tool_results: {} }, ofServer(true), 1)).toEqual(['ran for real', 1, 1]);
  expect(await answerOf(played, ofServer(true), 1)).toEqual(['{"day":1}', 0, null]);
  expect((await answerOf(played, ofServer(true), 2)).slice(1)).toEqual([0, null]);
});
