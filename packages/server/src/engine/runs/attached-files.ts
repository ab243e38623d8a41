import type { UserPart } from '@vestra/agent/message';
import { asData } from '@vestra/agent/prompt/data';
import type { Tenant } from '../../platform/caller.ts';
import { findFiles } from '../files/store.ts';
import type { FileRow } from '../files/tables.ts';
import type { MessageRow } from '../records/tables.ts';
import { type ReadsFiles, textOfFile } from '../tools/own/conversation-files.ts';

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
