import type { CallToolResult } from '@modelcontextprotocol/client';

/** What a server said, as one text for a model, and the pictures and recordings that it named there. */
export type ToolAnswer = { text: string; isError: boolean; media?: readonly McpMedia[] };

type McpMedia = { mediaType: string; content: Uint8Array };

/** With its notice below what the agent's loop takes of any tool: a second cut would take the notice away. */
const longest = 99_000;
const longestLine = 300;

export function answerOf(result: CallToolResult, hide: (text: string) => string): ToolAnswer {
  const media = result.content.filter(isMedia).slice(0, mostMedia).flatMap(mediaIn);
  return {
    text: shownText(textOf(result), hide),
    isError: result.isError === true,
    ...(media.length > 0 && { media }),
  };
}

/** Hidden before it is cut: half a secret is still half a secret. */
export const shownText = (text: string, hide: (text: string) => string): string => bounded(hide(text));

/** Whoever shows them to a model takes fewer. The text names each, also those that are left out here. */
const mostMedia = 16;

const isMedia = (part: Part): boolean =>
  part.type === 'image' || part.type === 'audio' || (part.type === 'resource' && isMediaType(part.resource.mimeType));

const isMediaType = (mimeType: string | undefined) => /^(image|audio)\/[\w.+-]+$/i.test(mimeType ?? '');

function mediaIn(part: Part): McpMedia[] {
  const [mimeType, base64] =
    part.type === 'image' || part.type === 'audio'
      ? [part.mimeType, part.data]
      : part.type === 'resource' && 'blob' in part.resource
        ? [part.resource.mimeType, part.resource.blob]
        : [];
  if (!mimeType || base64 === undefined) return [];
  const mediaType = isMediaType(mimeType) ? mimeType.toLowerCase() : 'application/octet-stream';
  return [{ mediaType, content: Buffer.from(base64, 'base64') }];
}

type Part = CallToolResult['content'][number];

function textOf({ content, structuredContent }: CallToolResult): string {
  const hasText = content.some((part) => part.type === 'text' && part.text !== '');
  const lines = content.map(partAsText);
  if (!hasText && structuredContent !== undefined) lines.unshift(JSON.stringify(structuredContent));
  return lines.filter((line) => line !== '').join('\n') || 'The tool answered with nothing.';
}

/** Bytes are named and never repeated: a model reads none of them from a text. */
function partAsText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return line(`${part.type} ${part.mimeType}, ${bytesIn(part.data)} bytes`);
    case 'resource_link':
      return line(`resource ${part.uri} ${part.name}`);
    case 'resource': {
      const { resource } = part;
      const named = `resource ${resource.uri} ${resource.mimeType ?? ''}`.trimEnd();
      return 'text' in resource
        ? `${line(named)}\n${resource.text}`
        : line(`${named}, ${bytesIn(resource.blob)} bytes`);
    }
    default:
      return line('a part of a kind that is not known here');
  }
}

/** One line that nothing in it ends early. */
export const line = (text: string) => `[${text.replaceAll(/\s+/g, ' ').slice(0, longestLine).toWellFormed()}]`;
const bytesIn = (base64: string) => Math.floor((base64.length * 3) / 4);

const bounded = (text: string): string =>
  text.length <= longest
    ? text
    : `${text.slice(0, longest).toWellFormed()}\n[Cut: the answer has ${text.length} characters, of which these are the first ${longest}.]`;
