import type { ApprovalCategory } from './approval-category.ts';
import type { Approver, InteractionDraft } from './interaction.ts';
import type { ToolCall, ToolDefinition } from './message.ts';
import { type CalledTool, type Decision, decideToolCall } from './tool-policy.ts';

/** A tool of a run, with all that decides whether a call of it may run and what a call means. */
export type Tool = {
  definition: ToolDefinition;
  origin: CalledTool | { from: 'agent'; isReadOnly: boolean };
  /** The slug of its MCP server. */
  server: string | null;
  effect: ToolEffect;
  /** Who says yes where a call waits. Absent: the user. */
  approver?: Approver;
  /** A call that is run and takes longer is stopped. Absent: three minutes. */
  timeoutS?: number;
  /** What one call costs in US dollars, where that is so much that the person is asked first. */
  asksCreditUsd?: number | undefined;
  /** What kind of deed it does, where that was judged before; absent: its name and description say it. */
  category?: ApprovalCategory | null;
};

export type ToolEffect =
  | { kind: 'run' }
  /** The call is an interaction, and its answer is the result: a function of the caller, a question to the person. */
  | { kind: 'ask'; answeredBy: 'person' | 'tool'; draft: (call: ToolCall) => InteractionDraft }
  /** Ends the run: a task goes on with it. */
  | { kind: 'hand_off' }
  /** Ends the run with the answer that stands in the arguments. */
  | { kind: 'finish'; answer: (call: ToolCall) => { text: string; data: unknown } };

export function decisionOf(tool: Tool): Decision['kind'] {
  return tool.origin.from === 'agent' ? 'run' : decideToolCall(tool.origin).kind;
}

/** Whether a call waits for a yes before anything happens. */
export const needsYes = (tool: Tool) => decisionOf(tool) === 'wait' || tool.asksCreditUsd !== undefined;

export function isReadOnly({ origin }: Tool): boolean {
  return origin.from === 'function' ? origin.read_only : origin.isReadOnly;
}

/** As its owner calls it, without the prefix by which the model tells servers apart. */
export function ownNameOf({ origin, definition }: Tool): string {
  return origin.from === 'server' ? origin.name : definition.name;
}
