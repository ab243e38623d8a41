import type { ToolCall } from '@vestra/agent/message';
import type { ToolAnswer } from '@vestra/agent/own-tool';
import type { CallSoFar, ToolOutcome } from '@vestra/agent/ports';
import type { Tool } from '@vestra/agent/tool';
import type { Sample, UnavailableServer } from '../../agents/tool-servers/index.ts';

/** What came of a call, before anything of it is kept. */
type RanTool = ({ kind: 'result' } & ToolAnswer) | Extract<ToolOutcome, { kind: 'connect' | 'input' | 'under_way' }>;

/** The tools of one run. */
export type RunTools = {
  all: readonly Tool[];
  /** What a call of a tool of the agent's own, or of a server, does. `sample`: for servers that may ask the model. */
  run: (call: ToolCall, tool: Tool, signal: AbortSignal, of: CallSoFar & { sample: Sample }) => Promise<RanTool>;
  /** Tells the tool of a call that is under way that nobody waits for it any more. */
  cancel: (tool: Tool, underWay: unknown, signal: AbortSignal) => Promise<void>;
  /** What a call costs; null where nothing. */
  priceOf: (tool: Tool) => number | null;
  /** Only what changes nothing is among them, until somebody says yes to the plan. */
  awaitsPlan: boolean;
  hasComputer: boolean;
  hasBrowser: boolean;
  /** The servers whose tools should be among them and are not. */
  missing: readonly UnavailableServer[];
};
