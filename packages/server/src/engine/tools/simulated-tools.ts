import { isDeepStrictEqual } from 'node:util';
import type { ToolCall } from '@vestra/agent/message';
import { needsApproval, ownNameOf, type Tool } from '@vestra/agent/tool';
import type { RecordedCall, TestScript } from '../records/tables.ts';
import type { RunTools } from './ports.ts';

/**
 * Tools of the agent that only read what the org has set up, or only concern the conversation itself. The routine tools
 * recognise a test by its turn and create nothing.
 */
const safeInTests = new Set([
  'search_notebooks',
  'read_document',
  'use_skill',
  'read_conversation_file',
  'pass_on_answer',
  'tell_work',
  'stop_work',
  'update_plan',
  'routines_add',
  'routines_list',
  'routines_remove',
]);

type SimulatedAnswer = { output: string; isError: boolean };

type TestHistory = {
  /** Facts that the agent was asked to remember in this test. */
  remembered: () => Promise<readonly string[]>;
  /** Every call of the tool in this test, including the current one. */
  called: (name: string) => Promise<readonly Pick<ToolCall, 'id' | 'arguments'>[]>;
  /** Answers of the tool in the conversation that is replayed. */
  recorded: (name: string) => Promise<readonly RecordedCall[]>;
};

/**
 * The tools of a test. Besides the safe tools above, a server's tool is called only if the server marks it as read-only,
 * it needs no approval, and the script has no result for it. Every other call returns the recorded answer for these
 * arguments, or the scenario's entry, or an error. A replay calls no server's tool and reads no attached file.
 */
export function simulateTools(script: TestScript, tools: RunTools, history: TestHistory): RunTools {
  const { tool_results, recorded_calls = [] } = script;
  const isReplay = script.replay_of !== undefined;
  const recordedCallsOf = (tool: Tool) =>
    tool.origin.from === 'agent' ? [] : recorded_calls.filter((recorded) => recorded.tool === keyOf(tool));
  const entryOf = (tool: Tool): SimulatedAnswer | null => {
    if (tool.origin.from === 'agent' || !Object.hasOwn(tool_results, keyOf(tool))) return null;
    return said(asText(tool_results[keyOf(tool)]));
  };
  const isScripted = (tool: Tool) => entryOf(tool) !== null || recordedCallsOf(tool).length > 0;
  const runsForReal = (tool: Tool): boolean => {
    if (tool.origin.from === 'agent')
      return safeInTests.has(tool.definition.name) && !(isReplay && readsAttachments(tool));
    if (isReplay) return false;
    return tool.origin.from === 'server' && tool.origin.isReadOnly && !needsApproval(tool) && !isScripted(tool);
  };

  /** The nth call with the same arguments gets the nth recorded answer. Later calls get the last one. */
  async function recordedAnswer(call: ToolCall, tool: Tool): Promise<SimulatedAnswer | null> {
    const isSame = (other: { arguments: unknown }) => isDeepStrictEqual(other.arguments, call.arguments);
    const recorded = isReplay ? await history.recorded(tool.definition.name) : recordedCallsOf(tool);
    const fitting = recorded.filter(isSame);
    if (fitting.length === 0) return null;
    const made = fitting.length === 1 ? [] : (await history.called(tool.definition.name)).filter(isSame);
    const round = Math.max(
      0,
      made.findIndex(({ id }) => id === call.id),
    );
    const { result, is_error } = fitting[Math.min(round, fitting.length - 1)] as RecordedCall;
    return { output: asText(result), isError: is_error === true };
  }

  return {
    ...tools,
    all: tools.all.map((tool) => (tool.origin.from === 'function' ? { ...tool, effect: { kind: 'run' } } : tool)),
    priceOf: (tool) => (runsForReal(tool) ? tools.priceOf(tool) : null),
    async run(call, tool, signal, of) {
      if (runsForReal(tool)) return tools.run(call, tool, signal, of);
      const isRecorded = isReplay || recordedCallsOf(tool).length > 0;
      const answer =
        (await recordedAnswer(call, tool)) ??
        entryOf(tool) ??
        (await simulate(tool, call.arguments as Record<string, unknown>, history, isRecorded));
      return { kind: 'result', ...answer };
    },
  };
}

/** A replay has no attached files to read. */
const readsAttachments = (tool: Tool) => tool.definition.name === 'read_conversation_file';

/** Names of the tools that the script has results for. */
export const scriptedTools = ({ tool_results, recorded_calls = [] }: TestScript): string[] => [
  ...new Set([...Object.keys(tool_results), ...recorded_calls.map(({ tool }) => tool)]),
];

const keyOf = (tool: Tool) => (tool.server === null ? ownNameOf(tool) : `${tool.server}.${ownNameOf(tool)}`);

/** Returns the success text of the agent's tool. Nothing is stored outside the test. */
async function simulate(
  { origin, definition }: Tool,
  given: Record<string, unknown>,
  { remembered }: TestHistory,
  isRecorded: boolean,
): Promise<SimulatedAnswer> {
  switch (origin.from === 'agent' ? definition.name : null) {
    case 'remember':
      return said('Remembered.');
    case 'recall':
      return said((await remembered()).join('\n') || 'You remember nothing about this.');
    case 'save_output':
      return said(
        `Saved as ${String(given.filename)}${given.content === undefined ? '' : ` (${Buffer.byteLength(String(given.content))} bytes)`}.`,
      );
    default:
      return { output: isRecorded ? notRecorded : noResult, isError: true };
  }
}

const noResult = 'This tool is not run in a test, and the scenario has no result for it.';
const notRecorded = 'This tool is not run in a test, and no call with these arguments was recorded.';

const said = (output: string): SimulatedAnswer => ({ output, isError: false });

const asText = (result: unknown) => (typeof result === 'string' ? result : JSON.stringify(result ?? null));
