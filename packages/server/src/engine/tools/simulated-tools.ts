import { isDeepStrictEqual } from 'node:util';
import type { ToolCall } from '@vestra/agent/message';
import { needsYes, ownNameOf, type Tool } from '@vestra/agent/tool';
import type { RecordedCall, TestScript } from '../records/turn.ts';
import type { RunTools } from './ports.ts';

/**
 * Tools of the agent's own that only read what the org has set up, or only concern the conversation itself; routines know
 * a test by its turn and make nothing.
 */
const harmless = new Set([
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

type Answer = { output: string; isError: boolean };

type Before = {
  /** What the agent was asked to remember in this very test. */
  remembered: () => Promise<readonly string[]>;
  /** Every call of the tool that a model knows by this name in this very test, the one that is being made included. */
  called: (name: string) => Promise<readonly Pick<ToolCall, 'id' | 'arguments'>[]>;
  /** What that tool answered in the talk that is replayed. */
  recorded: (name: string) => Promise<readonly RecordedCall[]>;
};

/**
 * The tools of a test: what the scenario says stands in for the world, whatever the model calls and whoever says yes. For
 * real run only tools of servers that the server marks as changing nothing and that wait for nobody. Everything else
 * answers what was recorded for these arguments, or the scenario's entry, or an error. In a replay no tool of a server or
 * of the person's runs for real, whatever it is marked as.
 */
export function pretendTools(script: TestScript, tools: RunTools, before: Before): RunTools {
  const { tool_results, recorded_calls = [] } = script;
  const isReplay = script.replay_of !== undefined;
  const givenFor = (tool: Tool) =>
    tool.origin.from === 'agent' ? [] : recorded_calls.filter((recorded) => recorded.tool === keyOf(tool));
  const entryOf = (tool: Tool): Answer | null => {
    if (tool.origin.from === 'agent' || !Object.hasOwn(tool_results, keyOf(tool))) return null;
    return said(asText(tool_results[keyOf(tool)]));
  };
  const isPlayed = (tool: Tool) => entryOf(tool) !== null || givenFor(tool).length > 0;
  const runsForReal = (tool: Tool): boolean => {
    if (tool.origin.from === 'agent') return harmless.has(tool.definition.name) && !(isReplay && ofPerson(tool));
    if (isReplay) return false;
    return tool.origin.from === 'server' && tool.origin.isReadOnly && !needsYes(tool) && !isPlayed(tool);
  };

  /** The same call again gets the answer after, and once there is none left the last. */
  async function recordedAnswer(call: ToolCall, tool: Tool): Promise<Answer | null> {
    const isSame = (other: { arguments: unknown }) => isDeepStrictEqual(other.arguments, call.arguments);
    const recorded = isReplay ? await before.recorded(tool.definition.name) : givenFor(tool);
    const fitting = recorded.filter(isSame);
    if (fitting.length === 0) return null;
    const made = fitting.length === 1 ? [] : (await before.called(tool.definition.name)).filter(isSame);
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
      const isRecorded = isReplay || givenFor(tool).length > 0;
      const answer =
        (await recordedAnswer(call, tool)) ??
        entryOf(tool) ??
        (await pretend(tool, call.arguments as Record<string, unknown>, before, isRecorded));
      return { kind: 'result', ...answer };
    },
  };
}

/** It reads what was sent along, and nothing is sent along in a replay. */
const ofPerson = (tool: Tool) => tool.definition.name === 'read_conversation_file';

/** The tools that a script answers for. */
export const playedTools = ({ tool_results, recorded_calls = [] }: TestScript): string[] => [
  ...new Set([...Object.keys(tool_results), ...recorded_calls.map(({ tool }) => tool)]),
];

const keyOf = (tool: Tool) => (tool.server === null ? ownNameOf(tool) : `${tool.server}.${ownNameOf(tool)}`);

/** What the agent's own tools say when they have worked; nothing is kept beyond the test. */
async function pretend(
  { origin, definition }: Tool,
  given: Record<string, unknown>,
  { remembered }: Before,
  isRecorded: boolean,
): Promise<Answer> {
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

const said = (output: string): Answer => ({ output, isError: false });

const asText = (result: unknown) => (typeof result === 'string' ? result : JSON.stringify(result ?? null));
