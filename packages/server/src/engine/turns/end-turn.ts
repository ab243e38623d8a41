import type { FinalEnd } from '@vestra/agent/ports';
import { manifestOf } from '../../agents/versions/index.ts';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import { storableJson, storableText } from '../../platform/db/storable-text.ts';
import type { Change } from '../records/change.ts';
import { memoryModeOf } from '../records/memory-mode.ts';
import { insertMessage } from '../records/messages.ts';
import type { TurnRow } from '../records/tables.ts';
import { tellMessage, tellTurn } from '../records/tell.ts';
import { updateTurn } from '../records/turns.ts';
import { beginNext } from './begin-reply.ts';
import { beginTask } from './begin-task.ts';
import type { Turns } from './ports.ts';

/** What has been said in a reply: all of it, and the part that is not in the log yet. */
export type StreamedReply = { whole: string; unstreamed: string };

/** Beside what the loop ends with, a run may break for reasons of its own. */
export type BrokenRun = { kind: 'failed'; code: string; message: string };

type Ending = FinalEnd | BrokenRun;

/** How a reply ends, and with it the conversation's next one begins. The run has been given up before. */
export async function endReply(
  engine: Turns,
  change: Change,
  turn: TurnRow,
  end: Ending,
  said: StreamedReply,
): Promise<void> {
  switch (end.kind) {
    case 'answered':
      await settleWithAnswer(engine, change, turn, { ...end, text: said.whole, unstreamed: said.unstreamed });
      break;
    case 'handed_off': {
      const { title = null, task = null } = end.call.arguments as { title?: string; task?: string };
      await beginTask(change, turn, {
        title: title && storableText(title),
        brief: task && storableText(task),
        said: said.whole,
        unstreamed: said.unstreamed,
      });
      break;
    }
    case 'stopped':
      await keepSaid(change, turn, said);
      await settleWithError(engine, change, turn, 'stopped', { code: end.reason, message: end.message ?? '' });
      break;
    case 'failed':
      await keepSaid(change, turn, said);
      await settleWithError(engine, change, turn, 'failed', end);
  }
  await beginNext(engine, change);
}

/** What the user has seen of a reply that came to no end stays, so that the next one knows of it. */
export async function keepSaid(change: Change, turn: TurnRow, said: StreamedReply): Promise<void> {
  if (said.whole.trim() === '') return;
  const message = await insertMessage(change.tx, {
    conversation_id: turn.conversation_id,
    id: turn.reply_message_id,
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    role: 'agent',
    text: storableText(said.whole),
  });
  tellMessage(change, message, storableText(said.unstreamed));
}

async function settleWithAnswer(
  engine: Turns,
  change: Change,
  turn: TurnRow,
  answer: { text: string; data: unknown; isCut: boolean; unstreamed: string },
): Promise<void> {
  const { tx } = change;
  const text = storableText(answer.text);
  const data = storableJson(answer.data) ?? null;
  const message = await insertMessage(tx, {
    conversation_id: turn.conversation_id,
    id: turn.reply_message_id,
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    role: 'agent',
    text,
    data,
    is_cut: answer.isCut,
  });
  tellMessage(change, message, storableText(answer.unstreamed));
  await settleTurn(engine, change, turn, { text, data, isCut: answer.isCut });
}

/** The turn has its answer, of the reply or of its work. */
export async function settleTurn(
  engine: Turns,
  change: Change,
  turn: TurnRow,
  { text, data, isCut }: { text: string; data: unknown; isCut: boolean },
): Promise<void> {
  const settled = await updateTurn(change.tx, turn.id, {
    state: 'settled',
    active_ms: turn.active_ms,
    reply_text: text,
    reply_data: data,
    reply_is_cut: isCut,
    settled_at: sharedDate(),
  });
  await noteMemoryDue(change, settled);
  await tellEnd(engine, change, settled);
}

export async function settleWithError(
  engine: Turns,
  change: Change,
  turn: TurnRow,
  state: 'failed' | 'stopped',
  error: { code: string; message: string } | null,
): Promise<void> {
  const settled = await updateTurn(change.tx, turn.id, {
    state,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    settled_at: sharedDate(),
  });
  await tellEnd(engine, change, settled);
}

/** The last that is heard of a turn: in the conversation, and by the batch that it is an item of. */
async function tellEnd({ batchItems }: Turns, change: Change, turn: TurnRow): Promise<void> {
  await tellTurn(change, 'turn.settled', turn);
  if (turn.origin === 'batch') await batchItems.ended(change, turn);
}

/** Once the conversation has been quiet for a while it is looked through for what is worth remembering, if anything is. */
async function noteMemoryDue({ tx, conversation }: Change, turn: TurnRow): Promise<void> {
  if (conversation.memory_due_at !== null) return;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const manifest = await manifestOf(tx, turn.deployment_id, turn.deployment_version);
  if ((await memoryModeOf(tx, tenant, manifest)) !== 'none') conversation.memory_due_at = memoryDue();
}

const quietMs = 10_000;

/** A lively conversation is looked through once and not per message. */
export const memoryDue = () => new Date(sharedNow() + quietMs);
