import type { Message, UserMessage, UserPart } from '@vestra/agent/message';
import { asData } from '@vestra/agent/prompt/data';
import type { Tenant } from '../../caller.ts';
import { findFiles } from '../files/api.ts';
import type { Engine } from './ports.ts';
import { findMessage, messagesBefore } from './store.ts';
import type { MessageRow, TurnRow } from './tables.ts';

/** What was said before the turn and what is asked now, the same each time the run is taken up. */
export async function historyOf(
  engine: Engine,
  tenant: Tenant,
  turn: TurnRow,
  { fence, brief, isFirstOfConversation }: { fence: string; brief: string | null; isFirstOfConversation: boolean },
): Promise<{ history: Message[]; asked: MessageRow; before: readonly MessageRow[] }> {
  const asked = (await findMessage(engine.db, turn.conversation_id, turn.message_id)) as MessageRow;
  const before = isFirstOfConversation ? [] : await messagesBefore(engine.db, turn);
  const summary = turn.base_summary;
  return {
    asked,
    before,
    history: [
      ...(summary === null ? [] : [summaryMessage(fence, summary)]),
      ...before.map(earlierMessage),
      await ownMessage(engine, tenant, asked, fence, brief),
    ],
  };
}

const summaryMessage = (fence: string, summary: string): UserMessage => ({
  role: 'user',
  parts: [
    {
      kind: 'text',
      text: `The beginning of this conversation was left out for length. This summary stands for it.\n\n${asData(fence, 'summary', summary)}`,
    },
  ],
});

/** Context was for its own message alone, and files of earlier messages are named and not sent again. */
function earlierMessage({ role, text, attachments }: MessageRow): Message {
  const named = attachments.map(({ filename }) => `[attached: ${filename}]`);
  if (role !== 'user') return { role: 'agent', text, calls: [] };
  return { role: 'user', parts: [{ kind: 'text', text: [text, ...named].join('\n') || '[nothing]' }] };
}

async function ownMessage(
  engine: Engine,
  tenant: Tenant,
  { text, context, attachments }: MessageRow,
  fence: string,
  brief: string | null,
): Promise<UserMessage> {
  const texts = [
    ...(text.trim() === '' ? [] : [text]),
    ...(brief === null ? [] : [`What is to be done, as it was handed over:\n${brief}`]),
    ...(context === null ? [] : [asData(fence, 'context', JSON.stringify(context))]),
  ];
  const files = attachments.length === 0 ? [] : await attachedParts(engine, tenant, attachments, fence);
  const parts: UserPart[] = [...texts.map((each) => ({ kind: 'text' as const, text: each })), ...files];
  return { role: 'user', parts: parts.length === 0 ? [{ kind: 'text', text: '[nothing]' }] : parts };
}

const longestDocument = 60_000;
const forModels = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/;

/** Pictures and PDFs go to the model as they are; of other documents it reads the text, as data. */
async function attachedParts(
  { db, files, documents }: Engine,
  tenant: Tenant,
  attachments: MessageRow['attachments'],
  fence: string,
): Promise<UserPart[]> {
  const rows = new Map(
    (
      await findFiles(
        db,
        tenant,
        attachments.map(({ file_id }) => file_id),
      )
    ).map((row) => [row.id, row]),
  );
  const parts = attachments.map(async ({ file_id, filename }): Promise<UserPart> => {
    const row = rows.get(file_id);
    const bytes = row && (await files.read(tenant.orgId, row.sha256));
    if (!row || !bytes) return { kind: 'text', text: `[attached: ${filename}, which was deleted]` };
    const mediaType = row.mime_type ?? 'application/octet-stream';
    if (forModels.test(mediaType)) return { kind: 'file', filename, mediaType, bytes };
    const text = await documents
      .read({ filename, contentType: mediaType, bytes }, { maxCharacters: 5_000_000 })
      .then((read) => read.text)
      .catch(() => null);
    if (text === null) return { kind: 'text', text: `[attached: ${filename}, of a kind that cannot be read]` };
    const shown = text.length <= longestDocument ? text : `${text.slice(0, longestDocument).toWellFormed()}\n[cut]`;
    return { kind: 'text', text: asData(fence, `file ${filename}`, shown) };
  });
  return Promise.all(parts);
}
