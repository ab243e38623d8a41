import { needsYes, ownNameOf, type Tool } from '@vestra/agent/tool';
import type { TestScript } from '../records/turn.ts';
import type { RunTools } from './run-tools.ts';

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

/**
 * The tools of a test: what the scenario says stands in for the world, whatever the model calls and whoever says yes. For
 * real run only tools of servers that the server marks as changing nothing and that wait for nobody. Everything else
 * answers the scenario's entry, or an error.
 */
export function pretendTools(
  { tool_results }: TestScript,
  tools: RunTools,
  /** What the agent was asked to remember in this very test. */
  remembered: () => Promise<readonly string[]>,
): RunTools {
  const entryOf = (tool: Tool): Answer | null => {
    const key = tool.server === null ? ownNameOf(tool) : `${tool.server}.${ownNameOf(tool)}`;
    if (tool.origin.from === 'agent' || !Object.hasOwn(tool_results, key)) return null;
    return said(asText(tool_results[key]));
  };
  const runsForReal = (tool: Tool): boolean => {
    if (tool.origin.from === 'agent') return harmless.has(tool.definition.name);
    return tool.origin.from === 'server' && tool.origin.isReadOnly && !needsYes(tool) && entryOf(tool) === null;
  };

  return {
    ...tools,
    all: tools.all.map((tool) => (tool.origin.from === 'function' ? { ...tool, effect: { kind: 'run' } } : tool)),
    priceOf: (tool) => (runsForReal(tool) ? tools.priceOf(tool) : null),
    async run(call, tool, signal, of) {
      if (runsForReal(tool)) return tools.run(call, tool, signal, of);
      const answer = entryOf(tool) ?? (await pretend(tool, call.arguments as Record<string, unknown>, remembered));
      return { kind: 'result', ...answer };
    },
  };
}

/** What the agent's own tools say when they have worked; nothing is kept beyond the test. */
async function pretend(
  { origin, definition }: Tool,
  given: Record<string, unknown>,
  remembered: () => Promise<readonly string[]>,
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
      return { output: 'This tool is not run in a test, and the scenario has no result for it.', isError: true };
  }
}

const said = (output: string): Answer => ({ output, isError: false });

const asText = (result: unknown) => (typeof result === 'string' ? result : JSON.stringify(result));
