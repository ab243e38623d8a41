import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Scope } from '@vestra/contract/route';
import type { OwnRoutes } from '../own-routes.ts';

/** Who calls a tool, and what reaches them while it runs. */
export type ToolCaller = {
  routes: OwnRoutes;
  scopes: readonly Scope[];
  requestId: string;
  /** Whoever called has gone, or wants no answer any more. */
  signal: AbortSignal;
  tellProgress: (message: string) => void;
  logFault: (error: unknown) => void;
};

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The answer as data, and as text for a client that reads nothing else. */
export const answered = (value: unknown): CallToolResult => ({
  structuredContent: value as CallToolResult['structuredContent'],
  content: [{ type: 'text', text: JSON.stringify(value) }],
});
