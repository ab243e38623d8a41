import type { CallToolResult } from '@modelcontextprotocol/client';
import { createHeldQuestions, heldOpen, inRounds, type Outcome } from './ask-person.ts';
import type { AnsweredQuestions, AskedQuestions } from './server-question.ts';
import { type McpTarget, type SessionLimits, withSession } from './session.ts';

export type CalledTool = {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** As the server lists it: some of its arguments may have to be sent as headers too. */
  inputSchema: Readonly<Record<string, unknown>>;
};

/** What the tool said, as one text for a model, and the pictures and recordings that it named there. */
export type ToolAnswer = { text: string; isError: boolean; media?: readonly McpMedia[] };

type McpMedia = { mediaType: string; content: Uint8Array };

const megabyte = 1_048_576;
const usual: SessionLimits = { timeoutMs: 120_000, maxRequests: 100, maxBytes: 8 * megabyte, maxParts: 100_000 };
/** With its notice below what the agent's loop takes of any tool: a second cut would take the notice away. */
const longest = 99_000;
const longestLine = 300;

type Call = {
  signal: AbortSignal;
  hide: (text: string) => string;
  /** Present: the server may put questions to the person. */
  asking?: AnsweredQuestions | undefined;
  /** A tool that may be called twice, for a server of the older protocol that asks in the middle of a call. */
  isRepeatable?: boolean | undefined;
};

export async function callTool(
  { fetch, version, limits }: { fetch: typeof globalThis.fetch; version: string; limits: Partial<SessionLimits> },
  target: McpTarget,
  { name, arguments: given, inputSchema }: CalledTool,
  { signal, hide, asking, isRepeatable = false }: Call,
): Promise<ToolAnswer | { asked: AskedQuestions }> {
  const all = { ...usual, ...limits };
  const held = createHeldQuestions({ answers: asking?.answers ?? {}, hide });
  const sent = {
    timeout: all.timeoutMs,
    toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' as const } },
  };
  const outcome = await withSession(
    { fetch, version, limits: all },
    target,
    signal,
    async (client): Promise<Outcome> => {
      // Without the definition the client lists the tools again where the server asks for headers. It has no output schema:
      // the client would compile what the server wrote, in whatever time that takes.
      if (!asking) return { result: await client.callTool({ name, arguments: given }, sent) };
      if (client.getProtocolEra() === 'modern')
        return inRounds(client, { name, arguments: given }, sent, { asking, hide });
      return heldOpen(held, () => client.callTool({ name, arguments: given }, sent));
    },
    asking && { capabilities: { elicitation: { form: {}, url: {} } }, prepare: held.listenTo },
  );
  if ('asked' in outcome) {
    return isRepeatable || !held.wasCancelled() ? outcome : cannotWait(outcome.asked);
  }
  const { result } = outcome;
  const media = result.content.filter(isMedia).slice(0, mostMedia).flatMap(mediaIn);
  // Hidden before it is cut: half a secret is still half a secret.
  const text = bounded(hide(textOf(result)));
  return { text, isError: result.isError === true, ...(media.length > 0 && { media }) };
}

/**
 * A server of the older protocol waits for the answer in the middle of its work, and cannot wait for days. It was told
 * that nobody chose anything; to call it again afterwards is right only for what may happen twice.
 */
const cannotWait = ({ questions }: AskedQuestions): ToolAnswer => ({
  text: `The server asked the person something and cannot wait for the answer: ${Object.values(questions)
    .map(({ message }) => JSON.stringify(message.slice(0, 500)))
    .join(', ')}. It was told that nobody answered. Find out what it did before you call the tool again.`,
  isError: true,
});

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

const line = (text: string) => `[${text.replaceAll(/\s+/g, ' ').slice(0, longestLine).toWellFormed()}]`;
const bytesIn = (base64: string) => Math.floor((base64.length * 3) / 4);

const bounded = (text: string): string =>
  text.length <= longest
    ? text
    : `${text.slice(0, longest).toWellFormed()}\n[Cut: the answer has ${text.length} characters, of which these are the first ${longest}.]`;
