import type { ToolCall } from '@vestra/agent/message';
import type { ToolAnswer } from '@vestra/agent/own-tool';
import type { ToolOutcome } from '@vestra/agent/ports';
import type { Tool } from '@vestra/agent/tool';
import type { UnavailableServer } from '../../mcp-servers/api.ts';

/** What came of a call, before anything of it is kept. */
type RanTool = ({ kind: 'result' } & ToolAnswer) | Extract<ToolOutcome, { kind: 'connect' | 'input' }>;

/** The tools of one run. */
export type RunTools = {
  all: readonly Tool[];
  /** What a call of a tool of the agent's own, or of a server, does. */
  run: (call: ToolCall, tool: Tool, signal: AbortSignal, of: { isAnswered: boolean }) => Promise<RanTool>;
  /** What a call costs; null where nothing. */
  priceOf: (tool: Tool) => number | null;
  /** Only what changes nothing is among them, until somebody says yes to the plan. */
  awaitsPlan: boolean;
  hasComputer: boolean;
  hasBrowser: boolean;
  /** The servers whose tools should be among them and are not. */
  missing: readonly UnavailableServer[];
};
