import type { Client, ListToolsResult } from '@modelcontextprotocol/client';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { type McpTarget, type SessionDependencies, type SessionLimits, withSession } from './session.ts';

/** One resource, or a page of the list. */
export type WantedResources = { uri: string } | { cursor: string | null };

export type OfferedTool = {
  name: string;
  description: string;
  /** The server declares the tool read-only. */
  isReadOnly: boolean;
  /** The server declares that a second call with the same arguments has no further effect. */
  isRepeatable: boolean;
  inputSchema: Readonly<Record<string, unknown>>;
  /** The price of a call, declared by the server. */
  priceUsd: number | null;
  /** Present for a built-in tool that reads resources. */
  reads?: (given: Readonly<Record<string, unknown>>) => WantedResources;
};

const megabyte = 1_048_576;
/** Room for 500 tools of 200 values each. A list of that size blocks the process for about a second. */
const listLimits: SessionLimits = { timeoutMs: 15_000, maxRequests: 100, maxBytes: 8 * megabyte, maxParts: 100_000 };
const maxTools = 500;
const maxPages = 50;

/** The first 500 tools of the server. `isCut`: it has more. */
export type ToolList = {
  tools: OfferedTool[];
  isCut: boolean;
  hasResources: boolean;
  /** The server notifies clients of changed tools or resources. */
  reportsChanges: boolean;
};

export function listTools(
  { limits, ...parts }: SessionDependencies & { limits: Partial<SessionLimits> },
  target: McpTarget,
  signal: AbortSignal,
): Promise<ToolList> {
  return withSession({ ...parts, limits: { ...listLimits, ...limits } }, target, signal, offeredTools);
}

/**
 * Requests page by page: `listTools` of the client reads all pages first, and logs the names of tools to the console.
 */
async function offeredTools(client: Client): Promise<ToolList> {
  const { tools: hasTools, resources } = client.getServerCapabilities() ?? {};
  const about = {
    hasResources: resources !== undefined,
    reportsChanges: hasTools?.listChanged === true || resources?.listChanged === true,
  };
  if (!hasTools) return { tools: [], isCut: false, ...about };
  const tools: OfferedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result: ListToolsResult = await client.request({ method: 'tools/list', params });
    const left = maxTools - tools.length;
    tools.push(...result.tools.slice(0, left).map(offeredTool));
    cursor = result.nextCursor;
    const isFull = tools.length === maxTools;
    if (cursor === undefined || isFull) {
      return { tools, isCut: result.tools.length > left || (isFull && cursor !== undefined), ...about };
    }
  }
  throw new OutboundFailure('too_large', `The list of tools has more than ${maxPages} pages.`);
}

const offeredTool = (tool: ListToolsResult['tools'][number]): OfferedTool => ({
  name: tool.name,
  description: tool.description ?? '',
  isReadOnly: tool.annotations?.readOnlyHint === true,
  isRepeatable: tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true,
  inputSchema: tool.inputSchema,
  priceUsd: priceOf(tool._meta?.['vestra/price_usd']),
});

const priceOf = (given: unknown): number | null =>
  typeof given === 'number' && Number.isFinite(given) && given >= 0 ? given : null;

/** Limits for a stream that carries few messages. */
const changeLimits: Omit<SessionLimits, 'timeoutMs'> = { maxRequests: 20, maxBytes: megabyte, maxParts: 10_000 };

/** Time for the handshake and for ending the session. */
const handshakeMs = 5_000;

/** Returns whether the server reports changed tools or resources within `forMs`. */
export function waitForChange(
  { limits, ...parts }: SessionDependencies & { limits: Partial<SessionLimits> },
  target: McpTarget,
  { signal, forMs }: { signal: AbortSignal; forMs: number },
): Promise<boolean> {
  const changed = Promise.withResolvers<boolean>();
  const over = setTimeout(() => changed.resolve(false), forMs);
  return withSession(
    { ...parts, limits: { ...changeLimits, ...limits, timeoutMs: forMs + handshakeMs } },
    target,
    signal,
    async (client) => {
      if (client.getProtocolEra() !== 'modern') return changed.promise;
      const stream = await client.listen({ toolsListChanged: true, resourcesListChanged: true });
      return Promise.race([changed.promise, stream.closed.then(() => false)]);
    },
    { prepare: (client) => onListChange(client, () => changed.resolve(true)), mayListen: true },
  ).finally(() => clearTimeout(over));
}

export function onListChange(client: Client, changed: () => void): void {
  client.setNotificationHandler('notifications/tools/list_changed', changed);
  client.setNotificationHandler('notifications/resources/list_changed', changed);
}
