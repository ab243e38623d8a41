import type { Client, ListToolsResult } from '@modelcontextprotocol/client';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import type { WantedResources } from './read-resources.ts';
import { type McpTarget, type SessionLimits, type SessionParts, withSession } from './session.ts';

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
const usual: SessionLimits = { timeoutMs: 15_000, maxRequests: 100, maxBytes: 8 * megabyte, maxParts: 100_000 };
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
  return withSession({ ...parts, limits: { ...usual, ...limits } }, target, signal, offeredTools);
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
