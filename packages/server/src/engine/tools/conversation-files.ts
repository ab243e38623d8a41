import type { UserPart } from '@vestra/agent/message';
import { failed, type OwnTool, ownTool, part, said, type ToolAnswer, text } from '@vestra/agent/own-tool';
import { asData } from '@vestra/agent/prompt/data';
import { z } from 'zod';
import type { Tenant } from '../../platform/caller.ts';
import { findFiles, outputsOf } from '../files/store.ts';
import type { FileRow } from '../files/tables.ts';
import { attachmentsOf } from '../records/messages.ts';
import type { Attachment, MessageRow } from '../records/tables.ts';
import type { ToolParts } from './ports.ts';

export type ReadsFiles = Pick<ToolParts, 'db' | 'files' | 'documents'>;

/** The files of a conversation, the newest first: those that came with messages, and those that work has made. */
export type ConversationFiles = { attached: readonly Attachment[]; made: readonly Attachment[] };

export async function filesOfConversation(
  { db }: Pick<ToolParts, 'db'>,
  tenant: Tenant,
  conversationId: string,
  { known, mayHaveOutputs }: { known: readonly MessageRow[] | null; mayHaveOutputs: boolean },
): Promise<ConversationFiles> {
  const attached = known ? known.map(({ attachments }) => attachments) : await attachmentsOf(db, conversationId);
  const outputs = mayHaveOutputs ? await outputsOf(db, tenant, conversationId) : [];
  return {
    attached: attached.toReversed().flat(),
    made: outputs.map(({ id, filename }) => ({ file_id: id, filename: filename ?? id })),
  };
}

const readInput = z.strictObject({
  filename: text('The name of the file, as it stands in the conversation.', 300),
  part: part('Which part of a long file, counted from one.').optional(),
});

const longestPart = 30_000;

/** Opens whatever was attached or made in the conversation, also where it is too much to be sent along each time. */
export function readConversationFile(
  engine: ReadsFiles,
  tenant: Tenant,
  { attached, made }: ConversationFiles,
): OwnTool[] {
  // Of two of one name the newest: ids are in the order of time.
  const files = [...attached, ...made].toSorted((one, other) => (one.file_id < other.file_id ? 1 : -1));
  return files.length === 0 ? [] : [readerOf(engine, tenant, files)];
}

const readerOf = (engine: ReadsFiles, tenant: Tenant, files: readonly Attachment[]): OwnTool =>
  ownTool<z.output<typeof readInput>>(
    {
      name: 'read_conversation_file',
      description: 'Read a file that was attached in this conversation or that work has made in it, by its name.',
      input: readInput,
      isReadOnly: true,
    },
    async ({ filename, part: at = 1 }) => {
      const named = files.find((each) => each.filename === filename) ?? files.find(isLike(filename));
      if (!named) return failed(`There is no such file. The files of this conversation: ${listed(files)}.`);
      const [row] = await findFiles(engine.db, tenant, [named.file_id]);
      if (row?.mime_type?.startsWith('image/')) return shownPicture(engine, row, named.filename);
      const content = row && (await textOfFile(engine, row, named.filename));
      if (content === undefined) return failed(`${named.filename} was deleted.`);
      if (content === null) return failed(`${named.filename} has no text that can be read (${row?.mime_type}).`);
      const parts = Math.max(1, Math.ceil(content.length / longestPart));
      if (at > parts) return failed(`${named.filename} has ${parts} ${parts === 1 ? 'part' : 'parts'}.`);
      const shown = content.slice((at - 1) * longestPart, at * longestPart).toWellFormed();
      return said(parts === 1 ? shown : `[Part ${at} of ${parts}]\n${shown}`);
    },
  );

async function shownPicture({ files }: ReadsFiles, row: FileRow, filename: string): Promise<ToolAnswer> {
  const content = await files.read(row.org_id, row.sha256);
  if (!content) return failed(`${filename} was deleted.`);
  return { ...said(`${filename}, a picture.`), media: [{ mediaType: row.mime_type ?? '', content, fileId: row.id }] };
}

const isLike = (wanted: string) => (each: Attachment) => each.filename.toLowerCase() === wanted.trim().toLowerCase();

const mostListed = 50;
const listed = (files: readonly Attachment[]) =>
  [...new Set(files.map(({ filename }) => filename))].slice(0, mostListed).join(', ');

/** Null: it has none; undefined: the file is gone. */
export async function textOfFile(
  { files, documents }: ReadsFiles,
  { org_id: orgId, sha256, mime_type }: FileRow,
  filename: string,
): Promise<string | null | undefined> {
  const key = `${orgId} ${sha256} ${filename}`;
  const known = readBefore.get(key);
  if (known !== undefined) return known;
  const bytes = await files.read(orgId, sha256);
  if (!bytes) return undefined;
  const contentType = mime_type ?? 'application/octet-stream';
  const content = await documents
    .read({ filename, contentType, bytes }, { orgId, maxCharacters: 5_000_000 })
    .then((read) => read.text)
    .catch(() => null);
  if (content !== null) keep(key, content);
  return content;
}

/** An earlier file is read again with each message: taking a PDF apart each time would hold the reply up. */
const readBefore = new Map<string, string>();
const mostKept = 8_000_000;
let keptCharacters = 0;

function keep(key: string, content: string): void {
  if (content.length > mostKept / 4) return;
  readBefore.set(key, content);
  keptCharacters += content.length;
  for (const [oldest, { length }] of readBefore) {
    if (keptCharacters <= mostKept) return;
    readBefore.delete(oldest);
    keptCharacters -= length;
  }
}

/** How what is attached reaches the model. */
export type FileRendering = {
  fence: string;
  /** Some models take a PDF as it is; for the others its text is read. */
  readsPdf: boolean;
  readsPictures: boolean;
};

/** How much of earlier files may be sent again with each request. */
export type Room = { characters: number; files: number; bytes: number };

const longestDocument = 60_000;
const pictures = /^image\/(png|jpeg|gif|webp)$/;

/**
 * The files of messages, by the id of the message: of the one that is asked now all, of earlier ones the newest that fit.
 * Whatever is left out is named, and can be opened by a tool.
 */
export async function attachedParts(
  engine: ReadsFiles,
  tenant: Tenant,
  { asked, before }: { asked: MessageRow; before: readonly MessageRow[] },
  shown: FileRendering,
  room: Room,
): Promise<Map<string, UserPart[]>> {
  const attaching = [...before.filter(({ role }) => role === 'user'), asked].filter(
    ({ attachments }) => attachments.length > 0,
  );
  if (attaching.length === 0) return new Map();
  const ids = attaching.flatMap(({ attachments }) => attachments.map(({ file_id }) => file_id));
  const rows = new Map((await findFiles(engine.db, tenant, ids)).map((row) => [row.id, row]));
  const left = { ...room };
  const parts = new Map<string, UserPart[]>();
  for (const message of attaching.toReversed()) {
    const isAsked = message === asked;
    const ofMessage: UserPart[] = [];
    for (const { file_id, filename } of message.attachments) {
      const row = rows.get(file_id);
      ofMessage.push(
        row
          ? await partOf(engine, row, filename, shown, isAsked ? null : left)
          : { kind: 'text', text: `[attached: ${filename}, which was deleted]` },
      );
    }
    parts.set(message.id, ofMessage);
  }
  return parts;
}

/** `room`: of an earlier message, which takes it up. */
async function partOf(
  engine: ReadsFiles,
  row: FileRow,
  filename: string,
  { fence, readsPdf, readsPictures }: FileRendering,
  room: Room | null,
): Promise<UserPart> {
  const mediaType = row.mime_type ?? 'application/octet-stream';
  const isPicture = pictures.test(mediaType);
  if ((isPicture && readsPictures) || (mediaType === 'application/pdf' && readsPdf)) {
    if (room && !takes(room, { files: 1, bytes: row.size_bytes ?? 0 })) return named(filename);
    const bytes = await engine.files.read(row.org_id, row.sha256);
    return bytes ? { kind: 'file', filename, mediaType, bytes } : gone(filename);
  }
  if (isPicture) return { kind: 'text', text: `[attached: ${filename}, a picture, which this model cannot see]` };
  if (room && room.characters <= 0) return named(filename);
  const text = await textOfFile(engine, row, filename);
  if (text === undefined) return gone(filename);
  if (text === null) return { kind: 'text', text: `[attached: ${filename}, of a kind that cannot be read]` };
  if (room && !takes(room, { characters: Math.min(text.length, longestDocument) })) return named(filename);
  const whole = text.length <= longestDocument ? text : `${text.slice(0, longestDocument).toWellFormed()}\n[cut]`;
  return { kind: 'text', text: asData(fence, `file ${filename}`, whole) };
}

const named = (filename: string): UserPart => ({
  kind: 'text',
  text: `[attached: ${filename}; open it with read_conversation_file]`,
});

const gone = (filename: string): UserPart => ({ kind: 'text', text: `[attached: ${filename}, which was deleted]` });

/** Whether it fits; what fits is taken. */
function takes(room: Room, { characters = 0, files = 0, bytes = 0 }: Partial<Room>): boolean {
  if (characters > room.characters || files > room.files || bytes > room.bytes) return false;
  room.characters -= characters;
  room.files -= files;
  room.bytes -= bytes;
  return true;
}
