import type { Client, ListToolsResult } from '@modelcontextprotocol/client';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { type McpTarget, type SessionLimits, type SessionParts, withSession } from './session.ts';

/** One resource, or a page of what there is. */
export type WantedResources = { uri: string } | { cursor: string | null };

export type OfferedTool = {
  name: string;
  description: string;
  /** The server says that the tool changes nothing. */
  isReadOnly: boolean;
  /** It says that a second call with the same arguments changes nothing more. */
  isRepeatable: boolean;
  inputSchema: Readonly<Record<string, unknown>>;
  /** What the server says that a call costs. */
  priceUsd: number | null;
  /** Present: it is no tool of the server's own, and a call of it reads this. */
  reads?: (given: Readonly<Record<string, unknown>>) => WantedResources;
};

const megabyte = 1_048_576;
/** Room for 500 tools of 200 values each. Whatever uses all of it holds the process up for about a second. */
const listLimits: SessionLimits = { timeoutMs: 15_000, maxRequests: 100, maxBytes: 8 * megabyte, maxParts: 100_000 };
const mostTools = 500;
const mostPages = 50;

/** The first 500 tools that the server offers; `isCut`: there are more. */
export type ToolList = {
  tools: OfferedTool[];
  isCut: boolean;
  hasResources: boolean;
  /** It says so when its tools or resources change, to whoever listens. */
  tellsChanges: boolean;
};

export function listTools(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  signal: AbortSignal,
): Promise<ToolList> {
  return withSession({ ...parts, limits: { ...listLimits, ...limits } }, target, signal, offeredTools);
}

/**
 * Asks page by page. The client's own `listTools` reads all pages before it gives back one, and writes the names of
 * tools to the console.
 */
async function offeredTools(client: Client): Promise<ToolList> {
  const { tools: hasTools, resources } = client.getServerCapabilities() ?? {};
  const about = {
    hasResources: resources !== undefined,
    tellsChanges: hasTools?.listChanged === true || resources?.listChanged === true,
  };
  if (!hasTools) return { tools: [], isCut: false, ...about };
  const tools: OfferedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result: ListToolsResult = await client.request({ method: 'tools/list', params });
    const room = mostTools - tools.length;
    tools.push(...result.tools.slice(0, room).map(offeredTool));
    cursor = result.nextCursor;
    const isFull = tools.length === mostTools;
    if (cursor === undefined || isFull) {
      return { tools, isCut: result.tools.length > room || (isFull && cursor !== undefined), ...about };
    }
  }
  throw new OutboundFailure('too_large', `The list of tools has more than ${mostPages} pages.`);
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

/** A stream on which next to nothing is said. */
const changeLimits: Omit<SessionLimits, 'timeoutMs'> = { maxRequests: 20, maxBytes: megabyte, maxParts: 10_000 };

/** For the handshake, and to part from a server that keeps sessions until it is told. */
const besidesMs = 5_000;

/** Whether the server says within `forMs` that its tools or resources have changed. */
export function hearChange(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  { signal, forMs }: { signal: AbortSignal; forMs: number },
): Promise<boolean> {
  const heard = Promise.withResolvers<boolean>();
  const over = setTimeout(() => heard.resolve(false), forMs);
  return withSession(
    { ...parts, limits: { ...changeLimits, ...limits, timeoutMs: forMs + besidesMs } },
    target,
    signal,
    async (client) => {
      if (client.getProtocolEra() !== 'modern') return heard.promise;
      const stream = await client.listen({ toolsListChanged: true, resourcesListChanged: true });
      return Promise.race([heard.promise, stream.closed.then(() => false)]);
    },
    { prepare: (client) => onListChange(client, () => heard.resolve(true)), mayListen: true },
  ).finally(() => clearTimeout(over));
}

export function onListChange(client: Client, changed: () => void): void {
  client.setNotificationHandler('notifications/tools/list_changed', changed);
  client.setNotificationHandler('notifications/resources/list_changed', changed);
}
