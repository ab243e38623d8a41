import type { Message, UserMessage, UserPart } from '@vestra/agent/message';
import { asData } from '@vestra/agent/prompt/data';
import type { Tenant } from '../../../caller.ts';
import { findFiles } from '../../files/api.ts';
import { findMessage, messagesBefore } from '../records/messages.ts';
import type { MessageRow, TurnRow } from '../records/tables.ts';
import type { Engine } from '../turns/ports.ts';

type Shown = {
  fence: string;
  brief: string | null;
  /** Some models take a PDF as it is; for the others its text is read. */
  readsPdf: boolean;
};

/** What was said before the turn and what is asked now, the same each time the run is taken up. */
export async function historyOf(
  engine: Engine,
  tenant: Tenant,
  turn: TurnRow,
  {
    isFirstOfConversation,
    asked: known,
    ...shown
  }: Shown & { isFirstOfConversation: boolean; asked: MessageRow | null },
): Promise<{ history: Message[]; asked: MessageRow; before: readonly MessageRow[] }> {
  const asked = known ?? ((await findMessage(engine.db, turn.conversation_id, turn.message_id)) as MessageRow);
  const before = isFirstOfConversation ? [] : await messagesBefore(engine.db, turn);
  const summary = turn.base_summary;
  return {
    asked,
    before,
    history: [
      ...(summary === null ? [] : [summaryMessage(shown.fence, summary)]),
      ...before.map(earlierMessage),
      await ownMessage(engine, tenant, asked, shown),
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

/** Without it the agent would take half an answer for all that it had to say. */
const cutMark = '[This reply was cut off here: it ran into the limit of length. The person has read no more of it.]';

/** Context was for its own message alone, and files of earlier messages are named and not sent again. */
function earlierMessage({ role, text, attachments, is_cut }: MessageRow): Message {
  const named = attachments.map(({ filename }) => `[attached: ${filename}]`);
  if (role !== 'user') return { role: 'agent', text: is_cut ? `${text}\n${cutMark}` : text, calls: [] };
  return { role: 'user', parts: [{ kind: 'text', text: [text, ...named].join('\n') || '[nothing]' }] };
}

async function ownMessage(
  engine: Engine,
  tenant: Tenant,
  { text, context, attachments }: MessageRow,
  shown: Shown,
): Promise<UserMessage> {
  const { fence, brief } = shown;
  const texts = [
    ...(text.trim() === '' ? [] : [text]),
    ...(brief === null ? [] : [`What is to be done, as it was handed over:\n${brief}`]),
    ...(context === null ? [] : [asData(fence, 'context', JSON.stringify(context))]),
  ];
  const files = attachments.length === 0 ? [] : await attachedParts(engine, tenant, attachments, shown);
  const parts: UserPart[] = [...texts.map((each) => ({ kind: 'text' as const, text: each })), ...files];
  return { role: 'user', parts: parts.length === 0 ? [{ kind: 'text', text: '[nothing]' }] : parts };
}

const longestDocument = 60_000;
const pictures = /^image\/(png|jpeg|gif|webp)$/;

/** Pictures, and PDFs where it can, go to the model as they are; of other documents it reads the text, as data. */
async function attachedParts(
  { db, files, documents }: Engine,
  tenant: Tenant,
  attachments: MessageRow['attachments'],
  { fence, readsPdf }: Shown,
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
    const isForModel = mediaType === 'application/pdf' ? readsPdf : pictures.test(mediaType);
    if (isForModel) return { kind: 'file', filename, mediaType, bytes };
    const text = await documents
      .read({ filename, contentType: mediaType, bytes }, { orgId: tenant.orgId, maxCharacters: 5_000_000 })
      .then((read) => read.text)
      .catch(() => null);
    if (text === null) return { kind: 'text', text: `[attached: ${filename}, of a kind that cannot be read]` };
    const whole = text.length <= longestDocument ? text : `${text.slice(0, longestDocument).toWellFormed()}\n[cut]`;
    return { kind: 'text', text: asData(fence, `file ${filename}`, whole) };
  });
  return Promise.all(parts);
}
