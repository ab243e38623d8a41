import {
  type Client,
  type ClientCapabilities,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import {
  type McpTarget,
  OlderTransport,
  type SessionDependencies,
  type SessionLimits,
  withSession,
} from './session.ts';
import { tasksExtension } from './tasks.ts';

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
const listLimits: SessionLimits = { timeoutMs: 30_000, maxRequests: 100, maxBytes: 8 * megabyte, maxParts: 100_000 };
const maxTools = 500;
const maxPages = 50;

/** The first 500 tools of the server. `isCut`: it has more. */
export type ToolList = {
  tools: OfferedTool[];
  isCut: boolean;
  hasResources: boolean;
  /** The server notifies clients of changed tools or resources. */
  reportsChanges: boolean;
  /** The server's own text on how to use it. Empty if it has none. */
  instructions: string;
  /** Tools that cannot be called here, each with the reason. */
  unusable: { name: string; reason: string }[];
};

/** The same for the list and for every call: a server may offer some tools only to clients that can be asked. */
export const capabilitiesFor = ({ asking, sample }: { asking?: unknown; sample?: unknown }): ClientCapabilities => ({
  extensions: { [tasksExtension]: {} },
  ...(asking !== undefined && { elicitation: { form: {}, url: {} } }),
  ...(sample !== undefined && { sampling: {} }),
});

/** Refuses requests that this client has not offered to answer. */
export const notOffered = ({ method }: { method: string }): Promise<never> => {
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${method} is not answered to this server.`);
};

export function listTools(
  { limits, ...parts }: SessionDependencies & { limits: Partial<SessionLimits> },
  target: McpTarget,
  { signal, mayAskModel = false }: { signal: AbortSignal; mayAskModel?: boolean | undefined },
): Promise<ToolList> {
  return withSession({ ...parts, limits: { ...listLimits, ...limits } }, target, signal, offeredTools, {
    capabilities: capabilitiesFor({ asking: {}, ...(mayAskModel && { sample: {} }) }),
    prepare: (client) => {
      client.fallbackRequestHandler = notOffered;
    },
  }).catch(async (error: unknown) => {
    const isRefused = [400, 404, 405].includes(statusOf(error) ?? 0);
    throw isRefused && (await speaksOlderTransport(parts.fetch, target, signal)) ? new OlderTransport() : error;
  });
}

const statusOf = (error: unknown): number | undefined =>
  error instanceof SdkHttpError ? error.status : error instanceof Error ? statusOf(error.cause) : undefined;

const probeMs = 3_000;

/** Servers of the transport of 2024 answer a plain GET with a stream. Others refuse a GET without a session. */
async function speaksOlderTransport(
  fetch: SessionDependencies['fetch'],
  { url, headers }: McpTarget,
  signal: AbortSignal,
): Promise<boolean> {
  const end = new AbortController();
  const clock = setTimeout(() => end.abort(), probeMs);
  try {
    const response = await fetch(url, {
      headers: { ...headers, accept: 'text/event-stream' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, end.signal]),
    });
    return response.ok && (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
  } catch {
    return false;
  } finally {
    clearTimeout(clock);
    end.abort();
  }
}

/**
 * Requests page by page: `listTools` of the client reads all pages first, and logs the names of tools to the console.
 */
async function offeredTools(client: Client): Promise<ToolList> {
  const { tools: hasTools, resources } = client.getServerCapabilities() ?? {};
  const about = {
    hasResources: resources !== undefined,
    reportsChanges: hasTools?.listChanged === true || resources?.listChanged === true,
    instructions: client.getInstructions()?.trim() ?? '',
  };
  const unusable: ToolList['unusable'] = [];
  if (!hasTools) return { tools: [], isCut: false, unusable, ...about };
  const tools: OfferedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result: ListToolsResult = await client.request({ method: 'tools/list', params });
    const usable = result.tools.filter((tool) => {
      const reason = faultOf(tool, client);
      if (reason !== null && unusable.length < maxTools) unusable.push({ name: tool.name, reason });
      return reason === null;
    });
    const left = maxTools - tools.length;
    tools.push(...usable.slice(0, left).map(offeredTool));
    cursor = result.nextCursor;
    const isFull = tools.length === maxTools;
    if (cursor === undefined || isFull) {
      return { tools, isCut: usable.length > left || (isFull && cursor !== undefined), unusable, ...about };
    }
  }
  throw new OutboundFailure('too_large', `The list of tools has more than ${maxPages} pages.`);
}

/** Returns why no call of the tool can succeed here, or null. */
function faultOf(tool: ListToolsResult['tools'][number], client: Client): string | null {
  if (client.getProtocolEra() === 'modern') {
    const fault = headerFault(tool.inputSchema);
    if (fault !== null) return fault;
  }
  const support = (tool as { execution?: { taskSupport?: unknown } }).execution?.taskSupport;
  return support === 'required' ? 'it runs only as a task of the revision 2025-11-25, which is not supported' : null;
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

/** The schema keyword by which a tool of revision 2026-07-28 asks for an argument as a header too. */
const headerKeyword = 'x-mcp-header';
/** A header name in HTTP. A space or a line break in it could add other headers. */
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const headerTypes: readonly unknown[] = ['string', 'integer', 'boolean'];

/** Keywords with one schema or a list of schemas, and keywords with schemas by name. */
const withSchemas = [
  ...['items', 'prefixItems', 'contains', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'],
  ...['propertyNames', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'],
];
const withNamedSchemas = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/**
 * Returns why the schema declares headers that the protocol forbids, or null. A client must not offer or call such a
 * tool.
 */
export function headerFault(inputSchema: Readonly<Record<string, unknown>>): string | null {
  const seen = new Set<string>();
  return faultIn(inputSchema, '', true);

  function faultIn(node: unknown, path: string, isReachable: boolean): string | null {
    if (typeof node !== 'object' || node === null) return null;
    const schema = node as Record<string, unknown>;
    const fault = Object.hasOwn(schema, headerKeyword) ? faultOfDeclaration(schema, path, isReachable) : null;
    if (fault !== null) return fault;
    for (const [name, inner] of namedIn(schema.properties)) {
      const inside = faultIn(inner, path === '' ? name : `${path}.${name}`, isReachable);
      if (inside !== null) return inside;
    }
    const others = [
      ...withSchemas.flatMap((key) => [schema[key]].flat()),
      ...withNamedSchemas.flatMap((key) => namedIn(schema[key]).map(([, inner]) => inner)),
    ];
    for (const inner of others) {
      const inside = faultIn(inner, path, false);
      if (inside !== null) return inside;
    }
    return null;
  }

  function faultOfDeclaration(schema: Record<string, unknown>, path: string, isReachable: boolean): string | null {
    const name = schema[headerKeyword];
    const at = path === '' ? 'its input' : `\`${path.slice(0, 100)}\``;
    if (!isReachable || path === '') return `\`${headerKeyword}\` of ${at} is not on a plain property`;
    if (typeof name !== 'string' || !headerName.test(name))
      return `\`${headerKeyword}\` of ${at} is not the name of a header`;
    if (!headerTypes.includes(schema.type))
      return `\`${headerKeyword}\` of ${at} needs a string, an integer or a boolean`;
    if (seen.has(name.toLowerCase())) return `\`${headerKeyword}\` of ${at} names the same header as another property`;
    seen.add(name.toLowerCase());
    return null;
  }
}

const namedIn = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
