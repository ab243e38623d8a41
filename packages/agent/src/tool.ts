import type { ApprovalCategory } from './approval-category.ts';
import type { Approver, InteractionDraft } from './interaction.ts';
import type { ToolCall, ToolDefinition } from './message.ts';
import { type CalledTool, type Decision, decideToolCall } from './tool-policy.ts';

/** A tool of a run, with everything that decides whether a call may run and what it does. */
export type Tool = {
  definition: ToolDefinition;
  origin: CalledTool | { from: 'agent'; isReadOnly: boolean };
  /** The slug of its MCP server. */
  server: string | null;
  effect: ToolEffect;
  /** Who approves a pending call. Default: the user. */
  approver?: Approver;
  /** A running call is stopped after this time. Default: three minutes. */
  timeoutS?: number;
  /** The price of one call in US dollars, if it is high enough to need approval. */
  asksCreditUsd?: number | undefined;
  /** The category, if it was determined before. Default: derived from name and description. */
  category?: ApprovalCategory | null;
};

export type ToolEffect =
  | { kind: 'run' }
  /**
   * The call is an interaction, and its answer is the result: a function of the caller, or a question to the person.
   */
  | { kind: 'ask'; answeredBy: 'person' | 'tool'; draft: (call: ToolCall) => InteractionDraft }
  /** Ends the run; a task continues. */
  | { kind: 'hand_off' }
  /** Ends the run with the answer in the arguments. */
  | { kind: 'finish'; answer: (call: ToolCall) => { text: string; data: unknown } };

export function decisionOf(tool: Tool): Decision['kind'] {
  return tool.origin.from === 'agent' ? 'run' : decideToolCall(tool.origin).kind;
}

/** Whether a call needs approval before anything happens. */
export const needsApproval = (tool: Tool) => decisionOf(tool) === 'wait' || tool.asksCreditUsd !== undefined;

export function isReadOnly({ origin }: Tool): boolean {
  return origin.from === 'function' ? origin.read_only : origin.isReadOnly;
}

/** The tool's original name, without the prefix that separates servers. */
export function ownNameOf({ origin, definition }: Tool): string {
  return origin.from === 'server' ? origin.name : definition.name;
}
