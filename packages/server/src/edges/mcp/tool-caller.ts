import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Scope } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';

/** Who calls a tool, and what reaches them while it runs. */
export type ToolCaller = {
  client: Client;
  /** Of the one call that begins something. */
  idempotencyKey: string | undefined;
  scopes: readonly Scope[];
  requestId: string;
  /** Whoever called has gone, or wants no answer any more. */
  signal: AbortSignal;
  tellProgress: (message: string) => void;
  logFault: (error: unknown) => void;
};

export type ToolArguments = Readonly<Record<string, unknown>>;

/** Below the minute after which clients give a call up. */
export const patienceMs = 50_000;

/** The answer as data, and as text for a client that reads nothing else. */
export const answered = (value: unknown): CallToolResult => ({
  structuredContent: value as CallToolResult['structuredContent'],
  content: [{ type: 'text', text: JSON.stringify(value) }],
});
