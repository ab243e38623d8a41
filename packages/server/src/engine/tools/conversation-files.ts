import type { UserPart } from '@vestra/agent/message';
import { failed, type OwnTool, ownTool, part, said, type ToolAnswer, text } from '@vestra/agent/own-tool';
import { asData } from '@vestra/agent/prompt/data';
import { z } from 'zod';
import type { Tenant } from '../../platform/caller.ts';
import { batchReads } from '../../platform/db/batch-concurrent-calls.ts';
import type { Database } from '../../platform/db/pool.ts';
import { findFiles, outputsOf as findOutputs } from '../files/store.ts';
import type { FileRow } from '../files/tables.ts';
import { attachmentsOf } from '../records/messages.ts';
import { deletedFileName } from '../records/redaction.ts';
import type { Attachment, MessageRow } from '../records/tables.ts';
import type { ToolParts } from './ports.ts';

export type FileReading = Pick<ToolParts, 'db' | 'files' | 'documents'>;

/** The files of a conversation, newest first: attachments of messages and outputs of tasks. */
export type ConversationFiles = { attached: readonly Attachment[]; made: MadeFile[] };

/** A file that a task or a tool made. */
export type MadeFile = Attachment & { task_id?: string | null };

export async function filesOfConversation(
  { db }: Pick<ToolParts, 'db'>,
  tenant: Tenant,
  conversationId: string,
  { known, mayHaveOutputs }: { known: readonly MessageRow[] | null; mayHaveOutputs: boolean },
): Promise<ConversationFiles> {
  const attached = known ? known.map(({ attachments }) => attachments) : await attachmentsOf(db, conversationId);
  const outputs = mayHaveOutputs ? await outputsOf(db, { ...tenant, conversationId }) : [];
  return { attached: attached.toReversed().flat(), made: outputs.map(madeFile) };
}

type Outputs = (wanted: Tenant & { conversationId: string }) => Promise<FileRow[]>;

/** The items of a batch begin together and read their files at the same moment: they share a statement. */
const readersOf = new WeakMap<Database, Outputs>();

function outputsOf(db: Database, { orgId, mode, conversationId }: Parameters<Outputs>[0]): Promise<FileRow[]> {
  const read = readersOf.get(db) ?? batchReads((wanted: Parameters<Outputs>[0][]) => findOutputs(db, wanted));
  readersOf.set(db, read);
  return read({ orgId, mode, conversationId });
}

const madeFile = ({ id, filename, task_id }: FileRow): MadeFile => ({ file_id: id, filename: filename ?? id, task_id });

/**
 * The files that a computer gets, without outputs of tasks, which were made there. The oldest file of a tool comes first:
 * files of the same name are numbered, and a later file must not rename an earlier one. They are read again, because a
 * task that resumes after a crash may have received some.
 */
export async function uploadsOf(
  { db }: Pick<ToolParts, 'db'>,
  { tenant, conversationId }: { tenant: Tenant; conversationId: string },
  { attached }: ConversationFiles,
): Promise<Attachment[]> {
  const outputs = await outputsOf(db, { ...tenant, conversationId });
  return [
    ...attached,
    ...outputs
      .filter(({ source }) => source === 'tool')
      .map(madeFile)
      .toReversed(),
  ];
}

/** Files that the agent may name in this turn, newest first, without those of the current message. */
export function earlierFiles({ attached, made }: ConversationFiles, asked: MessageRow) {
  const current = new Set(asked.attachments.map(({ file_id }) => file_id));
  return [...attached, ...made]
    .filter(({ file_id, filename }) => !current.has(file_id) && filename !== deletedFileName)
    .toSorted((one, other) => (one.file_id < other.file_id ? 1 : -1))
    .map(({ file_id: id, filename }) => ({ id, filename }));
}

const readInput = z.strictObject({
  filename: text('The name of the file, as it stands in the conversation, or its id.', 300),
  part: part('Which part of a long file, counted from one.').optional(),
});

const maxPartLength = 30_000;

/** Reads any file of the conversation, also one that is too large to be sent with each request. */
export function readConversationFile(
  engine: FileReading,
  { tenant, conversationId }: { tenant: Tenant; conversationId: string },
  { attached, made }: ConversationFiles,
  { mayGrow = false }: { mayGrow?: boolean } = {},
): OwnTool[] {
  if (attached.length + made.length === 0 && !mayGrow) return [];
  // Ids are in order of time, so the newest of two files with one name wins. A tool may add files during the run.
  const files = () => [...attached, ...made].toSorted((one, other) => (one.file_id < other.file_id ? 1 : -1));
  /** Reads what apps and other tasks have added: a reply that needs no file does not pay for this. */
  async function refresh(): Promise<void> {
    const known = new Set(made.map(({ file_id }) => file_id));
    const outputs = await outputsOf(engine.db, { ...tenant, conversationId });
    made.push(...outputs.map(madeFile).filter(({ file_id }) => !known.has(file_id)));
  }
  return [readerOf(engine, tenant, { files, refresh })];
}

type FileList = { files: () => readonly Attachment[]; refresh: () => Promise<void> };

const fileNamed = (files: readonly Attachment[], filename: string): Attachment | undefined =>
  files.find((each) => each.filename === filename) ??
  files.find(isLike(filename)) ??
  files.find(({ file_id }) => file_id === filename.trim());

const readerOf = (engine: FileReading, tenant: Tenant, { files, refresh }: FileList): OwnTool =>
  ownTool<z.output<typeof readInput>>(
    {
      name: 'read_conversation_file',
      description: 'Read a file that was attached in this conversation or that work has made in it, by its name.',
      input: readInput,
      isReadOnly: true,
    },
    async ({ filename, part: at = 1 }) => {
      if (!fileNamed(files(), filename)) await refresh();
      const named = fileNamed(files(), filename);
      if (!named) return failed(`There is no such file. The files of this conversation: ${listed(files()) || 'none'}.`);
      const [row] = await findFiles(engine.db, tenant, [named.file_id]);
      if (row?.mime_type?.startsWith('image/')) return shownPicture(engine, row, named.filename);
      const content = row && (await textOfFile(engine, row, named.filename));
      if (content === undefined) return failed(`${named.filename} was deleted.`);
      if (content === null) return failed(`${named.filename} has no text that can be read (${row?.mime_type}).`);
      const parts = Math.max(1, Math.ceil(content.length / maxPartLength));
      if (at > parts) return failed(`${named.filename} has ${parts} ${parts === 1 ? 'part' : 'parts'}.`);
      const shown = content.slice((at - 1) * maxPartLength, at * maxPartLength).toWellFormed();
      return said(parts === 1 ? shown : `[Part ${at} of ${parts}]\n${shown}`);
    },
  );

async function shownPicture({ files }: FileReading, row: FileRow, filename: string): Promise<ToolAnswer> {
  const content = await files.read(row.org_id, row.sha256);
  if (!content) return failed(`${filename} was deleted.`);
  return { ...said(`${filename}, a picture.`), media: [{ mediaType: row.mime_type ?? '', content, fileId: row.id }] };
}

const isLike = (wanted: string) => (each: Attachment) => each.filename.toLowerCase() === wanted.trim().toLowerCase();

const maxListed = 50;
const listed = (files: readonly Attachment[]) =>
  [...new Set(files.map(({ filename }) => filename))].slice(0, maxListed).join(', ');

/** Null if the file has no readable text, undefined if it was deleted. */
export async function textOfFile(
  { files, documents }: FileReading,
  { org_id: orgId, sha256, mime_type }: FileRow,
  filename: string,
): Promise<string | null | undefined> {
  const key = `${orgId} ${sha256} ${filename}`;
  const known = textCache.get(key);
  if (known !== undefined) return known;
  const bytes = await files.read(orgId, sha256);
  if (!bytes) return undefined;
  const contentType = mime_type ?? 'application/octet-stream';
  const content = await documents
    .read({ filename, contentType, bytes }, { orgId, maxCharacters: 5_000_000 })
    .then((read) => read.text)
    .catch(() => null);
  if (content !== null) cacheText(key, content);
  return content;
}

/** Each message reads earlier files again. Parsing a PDF each time would delay the reply. */
const textCache = new Map<string, string>();
const maxCachedCharacters = 8_000_000;
let cachedCharacters = 0;

function cacheText(key: string, content: string): void {
  if (content.length > maxCachedCharacters / 4) return;
  textCache.set(key, content);
  cachedCharacters += content.length;
  for (const [oldest, { length }] of textCache) {
    if (cachedCharacters <= maxCachedCharacters) return;
    textCache.delete(oldest);
    cachedCharacters -= length;
  }
}

export type FileRendering = {
  fence: string;
  /** Whether the model accepts a PDF. Other models get its text. */
  readsPdf: boolean;
  readsPictures: boolean;
};

/** How much of earlier files is sent again with each request. */
export type FileBudget = { characters: number; files: number; bytes: number };

const maxDocumentLength = 60_000;
const pictures = /^image\/(png|jpeg|gif|webp)$/;

/**
 * The files of messages, by message id: all files of the current message, and the newest earlier ones within the budget.
 * The rest are named, and the model can open them with a tool.
 */
export async function attachedParts(
  engine: FileReading,
  tenant: Tenant,
  { asked, before }: { asked: MessageRow; before: readonly MessageRow[] },
  shown: FileRendering,
  budget: FileBudget,
): Promise<Map<string, UserPart[]>> {
  const attaching = [...before.filter(({ role }) => role === 'user'), asked].filter(
    ({ attachments }) => attachments.length > 0,
  );
  if (attaching.length === 0) return new Map();
  const ids = attaching.flatMap(({ attachments }) => attachments.map(({ file_id }) => file_id));
  const rows = new Map((await findFiles(engine.db, tenant, ids)).map((row) => [row.id, row]));
  const budgetLeft = { ...budget };
  const parts = new Map<string, UserPart[]>();
  for (const message of attaching.toReversed()) {
    const isAsked = message === asked;
    const ofMessage: UserPart[] = [];
    for (const { file_id, filename } of message.attachments) {
      const row = rows.get(file_id);
      ofMessage.push(row ? await partOf(engine, row, filename, shown, isAsked ? null : budgetLeft) : deleted(filename));
    }
    parts.set(message.id, ofMessage);
  }
  return parts;
}

/** Files of earlier messages use up `budget`. It is null for the current message. */
async function partOf(
  engine: FileReading,
  row: FileRow,
  filename: string,
  { fence, readsPdf, readsPictures }: FileRendering,
  budget: FileBudget | null,
): Promise<UserPart> {
  const mediaType = row.mime_type ?? 'application/octet-stream';
  const isPicture = pictures.test(mediaType);
  if ((isPicture && readsPictures) || (mediaType === 'application/pdf' && readsPdf)) {
    if (budget && !spend(budget, { files: 1, bytes: row.size_bytes ?? 0 })) return notShown(filename);
    const bytes = await engine.files.read(row.org_id, row.sha256);
    return bytes ? { kind: 'file', filename, mediaType, bytes } : deleted(filename);
  }
  if (isPicture) return { kind: 'text', text: `[attached: ${filename}, a picture, which this model cannot see]` };
  if (budget && budget.characters <= 0) return notShown(filename);
  const text = await textOfFile(engine, row, filename);
  if (text === undefined) return deleted(filename);
  if (text === null) return { kind: 'text', text: `[attached: ${filename}, of a kind that cannot be read]` };
  if (budget && !spend(budget, { characters: Math.min(text.length, maxDocumentLength) })) return notShown(filename);
  const whole = text.length <= maxDocumentLength ? text : `${text.slice(0, maxDocumentLength).toWellFormed()}\n[cut]`;
  return { kind: 'text', text: asData(fence, `file ${filename}`, whole) };
}

const notShown = (filename: string): UserPart => ({
  kind: 'text',
  text: `[attached: ${filename}; open it with read_conversation_file]`,
});

const deleted = (filename: string): UserPart => ({
  kind: 'text',
  text:
    filename === deletedFileName ? '[attached: a file that was deleted]' : `[attached: ${filename}, which was deleted]`,
});

/** Subtracts the cost from the budget and returns true, or returns false if it does not fit. */
function spend(budget: FileBudget, { characters = 0, files = 0, bytes = 0 }: Partial<FileBudget>): boolean {
  if (characters > budget.characters || files > budget.files || bytes > budget.bytes) return false;
  budget.characters -= characters;
  budget.files -= files;
  budget.bytes -= bytes;
  return true;
}
