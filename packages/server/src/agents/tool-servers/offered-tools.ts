import { untilAborted } from '../../platform/async/waiters.ts';
import type { McpClient } from '../mcp-client/mcp-client.ts';
import type { OfferedTool, ToolList } from '../mcp-client/tool-list.ts';
import type { ReachableServer } from './server-access.ts';

type ListAnswer = Awaited<ReturnType<McpClient['listTools']>>;
type ListedServer = Pick<ReachableServer, 'fingerprint' | 'target'> & { server: { sampling: boolean } };
/** `last` is the answer before this one, used while this one is fetched. */
type CachedList = {
  answer: Promise<ListAnswer>;
  until: number;
  weight: number;
  last: { answer: ListAnswer; at: number } | null;
};

const cacheMs = 60_000;
/** An unreachable server must not delay every call, but should be called again soon. */
const failureCacheMs = 10_000;
/** A turn waits this long for a newer list before it uses the last one. */
const refreshMs = 3_000;
/** A server that starts slowly loses its tools only after this time without an answer. */
const maxAgeMs = 600_000;
const maxCached = 1000;
/** Characters of all cached lists. */
const maxWeight = 32_000_000;
/** The most servers to listen to, each over one connection. Other lists are refreshed after a minute. */
const maxListening = 100;

/**
 * Caches lists of tools for a minute, so that a turn needs no round trip. Concurrent callers share one request. While a
 * slow server is listed again, the last answer is used.
 */
export function createOfferedTools({ client, now }: { client: McpClient; now: () => number }) {
  const cached = new Map<string, CachedList>();
  let weight = 0;
  let listening = 0;

  function drop(key: string): void {
    weight -= cached.get(key)?.weight ?? 0;
    cached.delete(key);
  }

  function ask({ fingerprint: key, target, server }: ListedServer, last: CachedList['last']): CachedList {
    // Not the caller's signal, because other callers may wait for the same answer.
    const answer = client
      .listTools(target, { signal: neverAborted, mayAskModel: server.sampling })
      .then((list) => keepIfSlow(list.ok ? { ok: true as const, ...withResourceTools(list) } : list, last));
    const entry: CachedList = { answer, until: Number.POSITIVE_INFINITY, weight: 0, last };
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

  /** A server that took too long keeps its last tools for some minutes: each call then has its own time. */
  const keepIfSlow = (answer: ListAnswer, last: CachedList['last']): ListAnswer =>
    !answer.ok && answer.code === 'timeout' && last?.answer.ok && now() - last.at < maxAgeMs ? last.answer : answer;

  function store(key: string, entry: CachedList, result: ListAnswer): void {
    if (cached.get(key) !== entry) return;
    const isLast = result === entry.last?.answer;
    entry.until = now() + (result.ok && !isLast ? cacheMs : failureCacheMs);
    entry.last = { answer: result, at: isLast ? (entry.last?.at as number) : now() };
    entry.weight = result.ok ? weightOf(result.tools) : 0;
    weight += entry.weight;
    for (const oldest of cached.keys()) {
      if (cached.size <= maxCached && weight <= maxWeight) break;
      drop(oldest);
    }
  }

  /** Listens while the list is cached, and drops it when the server reports a change. */
  async function listen(key: string, entry: CachedList, target: ListedServer['target']): Promise<void> {
    if (listening >= maxListening) return;
    listening += 1;
    const isChanged = await client.waitForChange(target, { signal: neverAborted, forMs: cacheMs });
    listening -= 1;
    if (isChanged && cached.get(key) === entry) drop(key);
  }

  return {
    async of(listed: ListedServer, signal: AbortSignal): Promise<ListAnswer> {
      signal.throwIfAborted();
      const known = cached.get(listed.fingerprint);
      const entry = known && known.until > now() ? known : ask(listed, lastOf(known, now()));
      return untilAborted(answerInTime(entry), signal);
    },
    /** Called when the server reports a changed list. */
    forget: drop,
  };
}

/** Only an answer that may replace a newer one: a list that is not too old, or that the server did not answer. */
function lastOf(known: CachedList | undefined, at: number): CachedList['last'] {
  const last = known?.last;
  if (!last || at - last.at >= maxAgeMs) return null;
  return last.answer.ok || last.answer.code === 'timeout' ? last : null;
}

/** A slow server delays one turn. Later turns use its last answer if the new one takes longer than `refreshMs`. */
async function answerInTime({ answer, last }: CachedList): Promise<ListAnswer> {
  if (last === null) return answer;
  const late = Promise.withResolvers<ListAnswer>();
  const timer = setTimeout(() => late.resolve(last.answer), refreshMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const neverAborted = new AbortController().signal;

const weightOf = (tools: readonly OfferedTool[]): number =>
  tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);

const about = { isReadOnly: true, isRepeatable: true, priceUsd: null };

/**
 * Adds tools that read the resources of the server. All rules treat them as its tools. A tool of the server with the
 * same name wins, because it is listed first.
 */
export function withResourceTools({ tools, ...list }: ToolList): ToolList {
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
