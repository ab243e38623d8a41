import { newFence } from '@vestra/agent/prompt/data';
import { newId } from '@vestra/contract/ids';
import { manifestOf } from '../../agents/versions/index.ts';
import { isOwned } from '../../platform/jobs/run-owner.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { findMessage, insertMessage } from '../records/messages.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import { findTask, insertTask, updateTask } from '../records/tasks.ts';
import { tellMessage, tellTask } from '../records/tell.ts';
import { findTurn, updateTurn } from '../records/turns.ts';
import { acknowledgementIn } from './acknowledgement.ts';
import { notFresh, type Turns } from './ports.ts';

/** Work takes over a turn: it gets a task, and the user one line. The conversation is free for the next message. */
export async function beginTask(
  change: Change,
  turn: TurnRow,
  of: { title: string | null; brief: string | null; said: string; unstreamed: string },
): Promise<TurnRow> {
  const { tx, conversation } = change;
  const task = await insertTask(tx, {
    org_id: turn.org_id,
    mode: turn.mode,
    id: newId('task'),
    conversation_id: turn.conversation_id,
    turn_id: turn.id,
    user_id: turn.user_id,
    deployment_id: turn.deployment_id,
    deployment_version: turn.deployment_version,
    status: 'queued',
    title: of.title,
    brief: of.brief,
    is_hidden: conversation.is_hidden,
    fence: newFence(),
  });
  conversation.open_tasks += 1;
  const isSilent = of.said.trim() === '';
  const acknowledgement = isSilent ? await plainAcknowledgement(change, turn) : of.said;
  const message = await insertMessage(tx, {
    conversation_id: turn.conversation_id,
    id: turn.reply_message_id,
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    role: 'agent',
    text: acknowledgement,
  });
  tellMessage(change, message, isSilent ? acknowledgement : of.unstreamed);
  sendTaskJob(change, task);
  return updateTurn(tx, turn.id, { state: 'working', acknowledgement, task_id: task.id });
}

/** The version was read for the message: it is at hand. */
async function plainAcknowledgement({ tx }: Change, turn: TurnRow): Promise<string> {
  const { language } = await manifestOf(tx, turn.deployment_id, turn.deployment_version);
  const asked = language === 'auto' ? await findMessage(tx, turn.conversation_id, turn.message_id) : undefined;
  return acknowledgementIn(language, asked?.text ?? '');
}

export function sendTaskJob(change: Change, { org_id, mode, user_id, conversation_id, id }: TaskRow): void {
  change.send('task.run', { org_id, mode, user_id, conversation_id, task_id: id });
}

/** The job: a task that no process works on. */
export async function takeUpTask(
  engine: Turns,
  of: { org_id: string; mode: TaskRow['mode']; conversation_id: string; task_id: string },
): Promise<void> {
  const taken = await changeConversation(engine, of.conversation_id, null, async (change) => {
    const { tx } = change;
    const found = await findTask(tx, { orgId: of.org_id, mode: of.mode }, of.task_id);
    if (found?.status !== 'queued' && found?.status !== 'working') return null;
    if (await isOwned(tx, found.id)) return null;
    const run = await engine.runner.take(tx, found.id);
    const turn = (await findTurn(tx, found.turn_id)) as TurnRow;
    if (found.status === 'working') return { task: found, turn, run, fresh: notFresh };
    const task = await updateTask(tx, found, { status: 'working' });
    await tellTask(change, 'task.started', task);
    return { task, turn, run, fresh: { ...notFresh, isFirstRun: true } };
  }).catch(ignoreErased);
  if (!taken) return;
  await engine.runner.perform(taken.run, taken.task, (signal) => engine.work.task(taken, signal));
}

/** A conversation that was erased while its job waited needs no work any more. */
export function ignoreErased(error: unknown): null {
  if ((error as { code?: string }).code === 'conversation_not_found') return null;
  throw error;
}
