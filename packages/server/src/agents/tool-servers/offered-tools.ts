import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { McpClient } from '../mcp-client/mcp-client.ts';
import type { McpTarget } from '../mcp-client/session.ts';
import type { OfferedTool, ToolList } from '../mcp-client/tool-list.ts';

type Answer = Awaited<ReturnType<McpClient['listTools']>>;
type Kept = { answer: Promise<Answer>; until: number; weight: number };

const keptMs = 60_000;
/** A server that is away costs its time once, and is asked again soon. */
const failureKeptMs = 10_000;
const listMs = 10_000;
const mostKept = 1000;
/** Characters of all kept lists together. */
const mostWeight = 32_000_000;
/** Servers that are listened to at once, each over a connection; the lists of others are asked for after a minute. */
const mostListening = 100;

/** The lists of tools, kept for a minute, so that a turn costs no round trip. Those who ask at once share one request. */
export function createOfferedTools({ client, now }: { client: McpClient; now: () => number }) {
  const kept = new Map<string, Kept>();
  let weight = 0;
  let listening = 0;

  function drop(key: string): void {
    weight -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  }

  function ask(key: string, target: McpTarget): Kept {
    // Not the caller's signal: others may wait for the same answer.
    const answer = client
      .listTools(target, { signal: AbortSignal.timeout(listMs) })
      .then((list) => (list.ok ? { ok: true as const, ...withResourceTools(list) } : list));
    const entry: Kept = { answer, until: now() + keptMs, weight: 0 };
    drop(key);
    kept.set(key, entry);
    void answer.then(
      (result) => {
        keep(key, entry, result);
        if (result.ok && result.tellsChanges) void listen(key, entry, target);
      },
      () => kept.get(key) === entry && drop(key),
    );
    return entry;
  }

  function keep(key: string, entry: Kept, result: Answer): void {
    if (kept.get(key) !== entry) return;
    if (!result.ok) entry.until = now() + failureKeptMs;
    entry.weight = result.ok ? weightOf(result.tools) : 0;
    weight += entry.weight;
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept && weight <= mostWeight) break;
      drop(oldest);
    }
  }

  /** For as long as the list is kept: it is asked for anew once the server says that it has changed. */
  async function listen(key: string, entry: Kept, target: McpTarget): Promise<void> {
    if (listening >= mostListening) return;
    listening += 1;
    const isChanged = await client.hearChange(target, { signal: never, forMs: keptMs });
    listening -= 1;
    if (isChanged && kept.get(key) === entry) drop(key);
  }

  return {
    async of(key: string, target: McpTarget, signal: AbortSignal): Promise<Answer> {
      signal.throwIfAborted();
      const known = kept.get(key);
      const entry = known && known.until > now() ? known : ask(key, target);
      return untilAborted(entry.answer, signal);
    },
    /** Its server has said that it holds no longer. */
    forget: drop,
  };
}

const never = new AbortController().signal;

const weightOf = (tools: readonly OfferedTool[]): number =>
  tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);

const about = { isReadOnly: true, isRepeatable: true, priceUsd: null };

/**
 * What an agent reads a server's resources with. To all rules these are tools of the server, under these names; a tool of
 * its own that has one of the names goes before, since it is listed first.
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
