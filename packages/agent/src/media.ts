import type { Message, ToolMedia, ToolResult } from './message.ts';

/** A picture costs as much as a page of text in every request, so only the newest are shown. */
const kept = 6;
/** All pictures of a request together. Vendors accept requests of 20 to 32 MB, and base64 adds a third. */
const mostBytes = 12 * 1_048_576;

/**
 * Keeps only the newest pictures and replaces each older one by a line. Several are replaced at once, so that the
 * messages before the newest stay identical and a vendor's cache can keep them.
 */
export function withNewestMedia(messages: readonly Message[]): Message[] {
  const all = messages.flatMap((message) => (message.role === 'tool' ? message.results : [])).flatMap(mediaOf);
  if (all.length === 0) return [...messages];
  const tooMany = Math.max(0, Math.floor(all.length / kept) - 1) * kept;
  const shown = new Set<ToolMedia>();
  let bytes = 0;
  for (const each of all.slice(tooMany).toReversed()) {
    bytes += each.bytes;
    if (bytes > mostBytes) break;
    shown.add(each);
  }
  return changed(messages, (result) =>
    shownIn(result, (each) => (shown.has(each) ? each : 'it was shown before and is left out now')),
  );
}

/** Loads the content of each picture for a vendor, or replaces it by a line if its file was deleted. */
export async function withContent(
  messages: readonly Message[],
  read: (media: ToolMedia) => Promise<Uint8Array | null>,
): Promise<readonly Message[]> {
  const all = messages.flatMap((message) => (message.role === 'tool' ? message.results : [])).flatMap(mediaOf);
  if (all.length === 0) return messages;
  const contents = new Map<ToolMedia, Uint8Array | null>();
  for (const each of all) contents.set(each, each.content ?? (await read(each)));
  return changed(messages, (result) =>
    shownIn(result, (each) => {
      const content = contents.get(each);
      return content ? { ...each, content } : 'it was deleted';
    }),
  );
}

/** Replaces each medium by the result of `show`: the medium, or a text that explains its absence. */
export function shownIn(result: ToolResult, show: (media: ToolMedia) => ToolMedia | string): ToolResult {
  if (mediaOf(result).length === 0) return result;
  const shown = mediaOf(result).map((each) => ({ each, as: show(each) }));
  const lines = shown.flatMap(({ each, as }) => (typeof as === 'string' ? [`[${nameOf(each)}: ${as}]`] : []));
  const media = shown.flatMap(({ as }) => (typeof as === 'string' ? [] : [as]));
  return { ...result, output: [result.output, ...lines].join('\n'), media };
}

/** Describes a picture: image/png, 1280 × 800, 140 KB. */
function nameOf({ mediaType, bytes, width, height }: ToolMedia): string {
  const size = width === null || height === null ? [] : [`${width} × ${height}`];
  return [mediaType, ...size, `${Math.ceil(bytes / 1024)} KB`].join(', ');
}

const mediaOf = ({ media }: ToolResult): readonly ToolMedia[] => media ?? [];

const changed = (messages: readonly Message[], change: (result: ToolResult) => ToolResult): Message[] =>
  messages.map((message) => (message.role === 'tool' ? { ...message, results: message.results.map(change) } : message));
