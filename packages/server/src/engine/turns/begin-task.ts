import { manifestOf } from '../../agents/versions/index.ts';
import { isOwned } from '../../platform/jobs/run-owner.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { findMessage, insertMessage } from '../records/messages.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import { findTask, insertTask, updateTask } from '../records/tasks.ts';
import { tellTask } from '../records/tell.ts';
import { findTurn, updateTurn } from '../records/turns.ts';
import { decideTask } from '../transitions/begin-turn.ts';
import { acknowledgementIn } from './acknowledgement.ts';
import { notFresh, type Turns } from './ports.ts';

/** Makes a task of a turn; a job runs it. `said`: the reply so far, which is then the line that the user sees. */
export async function beginTask(
  change: Change,
  turn: TurnRow,
  of: { title: string | null; brief: string | null; said: string; unstreamed: string },
): Promise<TurnRow> {
  const { tx, conversation } = change;
  const { title, brief, said } = of;
  const isSilent = said.trim() === '';
  const acknowledgement = isSilent ? await plainAcknowledgement(change, turn) : said;
  const unstreamed = isSilent ? acknowledgement : of.unstreamed;
  const begun = decideTask(conversation, turn, { status: 'queued', title, brief, acknowledgement, unstreamed }, change);
  conversation.open_tasks += 1;
  await insertTask(tx, begun.task);
  await insertMessage(tx, begun.message);
  sendTaskJob(change, begun.task);
  return updateTurn(tx, turn.id, begun.turn);
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
