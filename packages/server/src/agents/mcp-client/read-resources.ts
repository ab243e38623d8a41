import { type Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { type CallInSession, capabilitiesFor, notOffered } from './call-tool.ts';
import { type McpTarget, type SessionLimits, type SessionParts, withSession } from './session.ts';
import { answerOf, line, shownText, type ToolAnswer } from './tool-answer.ts';

/** One resource, or a page of what there is. */
export type WantedResources = { uri: string } | { cursor: string | null };

const megabyte = 1_048_576;
const usual: SessionLimits = { timeoutMs: 60_000, maxRequests: 20, maxBytes: 8 * megabyte, maxParts: 100_000 };
const longestDescription = 300;

/** What a server has to read, or what stands in one of it, like the answer of a tool. */
export function readResources(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  wanted: WantedResources,
  { signal, hide, sessions, ...answering }: CallInSession,
): Promise<ToolAnswer> {
  const read = async (client: Client) => {
    if (!('uri' in wanted)) return { text: shownText(await listed(client, wanted.cursor), hide), isError: false };
    const { contents } = await client.request({ method: 'resources/read', params: { uri: wanted.uri } });
    return answerOf({ content: contents.map((resource) => ({ type: 'resource', resource })) }, hide);
  };
  return withSession({ ...parts, limits: { ...usual, ...limits } }, target, signal, read, {
    capabilities: capabilitiesFor(answering),
    prepare: (client) => {
      client.fallbackRequestHandler = notOffered;
    },
    sessions,
  });
}

async function listed(client: Client, cursor: string | null): Promise<string> {
  const params = cursor === null ? {} : { cursor };
  const { resources, nextCursor } = await client.request({ method: 'resources/list', params });
  const templates = cursor === null ? await templatesOf(client) : [];
  const lines = [
    ...resources.map(({ uri, size, ...about }) => entry(uri, size === undefined ? '' : `${size} bytes`, about)),
    ...templates.map(({ uriTemplate, ...about }) => entry(uriTemplate, 'fill in what stands in braces', about)),
    ...(nextCursor === undefined ? [] : [`There are more: go on with the cursor ${JSON.stringify(nextCursor)}.`]),
  ];
  return lines.join('\n') || 'The server has nothing to read.';
}

/** A server that knows no templates answers that it does not know the question. */
async function templatesOf(client: Client) {
  try {
    return (await client.request({ method: 'resources/templates/list', params: {} })).resourceTemplates;
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return [];
    throw error;
  }
}

type About = {
  name: string;
  title?: string | undefined;
  mimeType?: string | undefined;
  description?: string | undefined;
};

function entry(address: string, note: string, { name, title, mimeType, description = '' }: About): string {
  const said = description.replaceAll(/\s+/g, ' ').trim().slice(0, longestDescription).toWellFormed();
  const shown = [title ?? name, mimeType, note].filter((each) => each).join(', ');
  return `${line(address)} ${shown.replaceAll(/\s+/g, ' ').slice(0, longestDescription).toWellFormed()}${said && `: ${said}`}`;
}
