import { untilAborted } from '../../platform/async/waiters.ts';
import type { McpClient } from '../mcp-client/mcp-client.ts';
import type { McpTarget } from '../mcp-client/session.ts';
import type { OfferedTool, ToolList } from '../mcp-client/tool-list.ts';

type ListAnswer = Awaited<ReturnType<McpClient['listTools']>>;
type CachedList = { answer: Promise<ListAnswer>; until: number; weight: number };

const cacheMs = 60_000;
/** An unreachable server must not delay every call, but should be callWithRetry again soon. */
const failureCacheMs = 10_000;
const listMs = 10_000;
const maxCached = 1000;
/** Characters of all cached lists. */
const maxWeight = 32_000_000;
/** The most servers to listen to, each over one connection. Other lists are refreshed after a minute. */
const maxListening = 100;

/** Caches lists of tools for a minute, so that a turn needs no round trip. Concurrent callers share one request. */
export function createOfferedTools({ client, now }: { client: McpClient; now: () => number }) {
  const cached = new Map<string, CachedList>();
  let weight = 0;
  let listening = 0;

  function drop(key: string): void {
    weight -= cached.get(key)?.weight ?? 0;
    cached.delete(key);
  }

  function ask(key: string, target: McpTarget): CachedList {
    // Not the caller's signal, because other callers may wait for the same answer.
    const answer = client
      .listTools(target, { signal: AbortSignal.timeout(listMs) })
      .then((list) => (list.ok ? { ok: true as const, ...withResourceTools(list) } : list));
    const entry: CachedList = { answer, until: now() + cacheMs, weight: 0 };
    drop(key);
    cached.set(key, entry);
    void answer.then(
      (result) => {
        store(key, entry, result);
        if (result.ok && result.reportsChanges) void listen(key, entry, target);
      },
      () => cached.get(key) === entry && drop(key),
    );
    return entry;
  }

  function store(key: string, entry: CachedList, result: ListAnswer): void {
    if (cached.get(key) !== entry) return;
    if (!result.ok) entry.until = now() + failureCacheMs;
    entry.weight = result.ok ? weightOf(result.tools) : 0;
    weight += entry.weight;
    for (const oldest of cached.keys()) {
      if (cached.size <= maxCached && weight <= maxWeight) break;
      drop(oldest);
    }
  }

  /** Listens while the list is cached, and drops it when the server reports a change. */
  async function listen(key: string, entry: CachedList, target: McpTarget): Promise<void> {
    if (listening >= maxListening) return;
    listening += 1;
    const isChanged = await client.waitForChange(target, { signal: neverAborted, forMs: cacheMs });
    listening -= 1;
    if (isChanged && cached.get(key) === entry) drop(key);
  }

  return {
    async of(key: string, target: McpTarget, signal: AbortSignal): Promise<ListAnswer> {
      signal.throwIfAborted();
      const known = cached.get(key);
      const entry = known && known.until > now() ? known : ask(key, target);
      return untilAborted(entry.answer, signal);
    },
    /** Called when the server reports a changed list. */
    forget: drop,
  };
}

const neverAborted = new AbortController().signal;

const weightOf = (tools: readonly OfferedTool[]): number =>
  tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);

const about = { isReadOnly: true, isRepeatable: true, priceUsd: null };

/**
 * Adds tools that read the resources of the server. All rules treat them as its tools. A tool of the server with the
 * same name wins, because it is listed first.
 */
function withResourceTools({ tools, ...list }: ToolList): ToolList {
  if (!list.hasResources) return { tools, ...list };
  const list_resources: OfferedTool = {
    ...about,
    name: 'list_resources',
    description: 'Lists what this server has to read, with the address, name and kind of each.',
    inputSchema: {
      type: 'object',
      properties: { cursor: { type: 'string', description: 'Where an earlier list said to go on.' } },
      additionalProperties: false,
    },
    reads: ({ cursor }) => ({ cursor: typeof cursor === 'string' ? cursor : null }),
  };
  const read_resource: OfferedTool = {
    ...about,
    name: 'read_resource',
    description: 'Reads one of the things that this server has to read, by its address.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'An address of `list_resources`, or one that a tool named.' } },
      required: ['uri'],
      additionalProperties: false,
    },
    reads: ({ uri }) => ({ uri: String(uri) }),
  };
  return { ...list, tools: [...tools, list_resources, read_resource] };
}
