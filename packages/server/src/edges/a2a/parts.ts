import type { Message, Part } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';

type IncomingFile = { filename: string; mediaType: string; bytes: Uint8Array<ArrayBuffer> };

export type IncomingParts = { texts: string[]; data: unknown[]; files: IncomingFile[] };

/** What a client's message says, by kind. */
export function readParts({ parts }: Message): IncomingParts {
  const read: IncomingParts = { texts: [], data: [], files: [] };
  for (const [at, { content, filename, mediaType }] of parts.entries()) {
    if (content?.$case === 'text') read.texts.push(content.value);
    else if (content?.$case === 'data') read.data.push(content.value);
    else if (content?.$case === 'raw') {
      read.files.push({ filename: filename || `file-${at + 1}`, mediaType, bytes: new Uint8Array(content.value) });
    } else if (content?.$case === 'url') throw refusedLink(at);
    else throw new RequestMalformedError(`message.parts.${at} has neither text, raw, url nor data.`);
  }
  return read;
}

/** Fetching whatever address a caller names would let them look around in our network. */
const refusedLink = (at: number) =>
  fail('unsupported_media_type', {
    param: `message.parts.${at}.url`,
    message: 'Send the bytes of a file, or upload it with POST /v1/files and name it in metadata.attachments.',
  });

const bare = { metadata: undefined, filename: '', mediaType: '' };

export const textPart = (value: string): Part => ({
  ...bare,
  content: { $case: 'text', value },
  mediaType: 'text/plain',
});

export const dataPart = (value: unknown): Part => ({
  ...bare,
  content: { $case: 'data', value },
  mediaType: 'application/json',
});

export const linkPart = (url: string, { filename, mediaType }: { filename: string; mediaType: string }): Part => ({
  ...bare,
  content: { $case: 'url', value: url },
  filename,
  mediaType,
});

export const agentMessage = (
  messageId: string,
  { contextId, taskId = '' }: { contextId: string; taskId?: string },
  parts: Part[],
): Message => ({
  messageId,
  contextId,
  taskId,
  role: Role.ROLE_AGENT,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});
