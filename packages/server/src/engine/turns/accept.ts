import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { PricedModel } from '@vestra/models/prices';
import type { RunnableDeployment } from '../../agents/deployments/index.ts';
import { manifestOf, versionToRun } from '../../agents/versions/index.ts';
import { refusalFailure, refusalOfSpending, release, reserve, type Spending } from '../../billing/index.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { pipelined } from '../../platform/db/query.ts';
import type { UserRow } from '../../users/index.ts';
import { findFiles } from '../files/store.ts';
import type { Change } from '../records/change.ts';
import { acceptingMessage, runOf } from '../records/message-writes.ts';
import type { Attachment, ConversationRow, MessageRow, TurnRow } from '../records/tables.ts';
import { tellTurn } from '../records/tell.ts';
import { goesStraightToWork, type TurnOrigin, type TurnRequest } from '../records/turn.ts';
import { usableModel } from '../records/usable-model.ts';
import { reply } from './begin-reply.ts';
import { beginTask } from './begin-task.ts';
import { mostOfMessage } from './call-price.ts';
import type { AcceptedState, Turns } from './ports.ts';
import { spendingOf } from './spending.ts';

/** A message on its way into a conversation. */
export type NewMessage = {
  text: string;
  context: Record<string, unknown> | null;
  attachments: readonly Attachment[];
  request: TurnRequest;
  origin: TurnOrigin;
};

/** What stands behind a message that may be taken: decided before anything is written. */
export type Admission = {
  version: number;
  readsNewest: boolean;
  model: PricedModel;
  /** Names of the version's own functions. */
  functions: readonly string[];
};

/**
 * In test mode a conversation stays on the version it started on; in live mode each message goes to the version that is
 * live. A version that was named with `@` stays in both. Test traffic at the draft reads the newest content of notebooks
 * and skills, everybody else what the version fixes.
 */
export async function admit(
  { models }: Turns,
  db: Executor,
  conversation: Pick<ConversationRow, 'mode' | 'pinned_version' | 'deployment_version'>,
  deployment: RunnableDeployment,
): Promise<Admission> {
  const { mode, pinned_version } = conversation;
  const kept = mode === 'test' ? conversation.deployment_version : null;
  const version = versionToRun(deployment, mode, pinned_version ?? kept);
  const manifest = await manifestOf(db, deployment.id, version);
  const functions = manifest.tools.map((entry) => entry.function);
  const readsNewest = mode === 'test' && version === deployment.draft_version;
  return { version, readsNewest, model: usableModel(models, mode, manifest.model), functions };
}

/**
 * Takes the message: it is kept, its turn begins or waits behind the reply that is being made. `user`: where the caller
 * has just read the row.
 */
export async function acceptMessage(
  engine: Turns,
  change: Change,
  { version, readsNewest, model, functions }: Admission,
  message: NewMessage,
  user: UserRow | null = null,
): Promise<TurnRow> {
  const { tx, conversation } = change;
  refuseRedeclared(functions, message.request.tools ?? []);
  const tenant: Tenant = { orgId: conversation.org_id, mode: conversation.mode };
  conversation.turn_count += 1;
  conversation.deployment_version = version;
  conversation.last_active_at = sharedDate();
  const isStraight = goesStraightToWork(message.request);
  const isNext = !isStraight && conversation.replying_turn_id === null;
  const { asked, turn } = rowsOfMessage(conversation, message, {
    state: isStraight ? 'working' : isNext ? 'replying' : 'queued',
    // A test is about what its version fixes, whatever is changed while it is played.
    reads_newest: readsNewest && message.origin !== 'test',
  });
  const spending = await spendingOf(tx, tenant, conversation.user_id, user);
  const hold = isNext
    ? await holdForReply(engine, tx, tenant, {
        ...spending,
        amountMicros: mostOfMessage(model, asked.text),
        runId: turn.id,
      })
    : await assertMoneyLeft(tx, tenant, spending);
  const [taken] = await pipelined(tx, [
    acceptingMessage(asked, turn, isNext ? engine.runner.lease(conversation) : null),
  ]);
  const run = runOf(turn, taken);
  if (isNext) {
    await tellTurn(change, 'turn.started', turn);
    return reply(engine, change, { turn, run }, { isFirstRun: true, hold, asked, user });
  }
  if (isStraight) {
    await tellTurn(change, 'turn.started', turn);
    return beginTask(change, turn, { title: null, brief: null, said: '', unstreamed: '' });
  }
  conversation.queued_turns += 1;
  return turn;
}

/** A version says how its functions are called and which wait for a yes: a message adds to them and changes none. */
export function refuseRedeclared(functions: readonly string[], ofMessage: readonly { name: string }[]): void {
  const at = ofMessage.findIndex(({ name }) => functions.includes(name));
  if (at === -1) return;
  throw fail('duplicate_name', {
    param: `tools.${at}.name`,
    message: 'The deployment has a function of this name. Leave it out here: it can be called as it is.',
  });
}

/**
 * Money for the first call, in the statement that looks whether there is any. Where others wait for money, or so little
 * is left that calls could spend it together, nothing is held here: the reply asks for it in its turn.
 */
async function holdForReply(
  { money }: Turns,
  tx: Change['tx'],
  tenant: Tenant,
  reservation: Parameters<typeof reserve>[2],
): Promise<AcceptedState['hold']> {
  const answer = await reserve(tx, tenant, reservation);
  if (!answer.allowed) {
    if (answer.isHeldByRunningCalls) return null;
    throw refusalFailure(answer);
  }
  const { reservationId } = answer;
  if (!answer.isTight && !money.hasWaiting(tenant)) return { reservationId, micros: reservation.amountMicros };
  await release(tx, tenant, reservationId);
  return null;
}

async function assertMoneyLeft(tx: Change['tx'], tenant: Tenant, spending: Spending): Promise<null> {
  const refusal = await refusalOfSpending(tx, tenant, spending);
  if (refusal) throw refusalFailure(refusal);
  return null;
}

/** A reply that waits behind another reads what came before it when it begins; one that begins reads it now. */
export function rowsOfMessage(
  conversation: ConversationRow,
  message: NewMessage,
  { state, reads_newest }: { state: 'working' | 'replying' | 'queued'; reads_newest: boolean },
) {
  const [turnId, messageId, created_at] = [newId('turn'), newId('msg'), sharedDate()];
  const begins = state !== 'queued';
  const asked: MessageRow = {
    conversation_id: conversation.id,
    id: messageId,
    turn_id: turnId,
    turn_ordinal: conversation.turn_count,
    task_id: null,
    role: 'user',
    text: message.text,
    data: null,
    context: message.context,
    attachments: [...message.attachments],
    is_cut: false,
    created_at,
  };
  const turn: TurnRow = {
    conversation_id: conversation.id,
    ordinal: conversation.turn_count,
    id: turnId,
    org_id: conversation.org_id,
    mode: conversation.mode,
    user_id: conversation.user_id,
    deployment_id: conversation.deployment_id as string,
    deployment_version: conversation.deployment_version as number,
    reads_newest,
    state,
    request: message.request,
    origin: message.origin,
    message_id: messageId,
    reply_message_id: newId('msg'),
    history_until: begins ? messageId : null,
    base_summary: begins ? conversation.summary : null,
    base_from: begins ? conversation.summary_until : null,
    fence: conversation.fence,
    active_ms: 0,
    reply_text: null,
    reply_data: null,
    reply_is_cut: false,
    acknowledgement: null,
    task_id: null,
    error_code: null,
    error_message: null,
    missing_tools: null,
    created_at,
    settled_at: null,
  };
  return { asked, turn };
}

/** The files a message brings: the user's own, each with its name. A session brings no output of another conversation. */
export async function readAttachments(
  db: Executor,
  caller: Tenant & Pick<Caller, 'session'>,
  userId: string | null,
  attached: readonly { file_id: string }[],
): Promise<Attachment[]> {
  if (attached.length === 0) return [];
  const ids = attached.map(({ file_id }) => file_id);
  const { session } = caller;
  const found = new Map((await findFiles(db, caller, ids)).map((row) => [row.id, row]));
  return ids.map((id, at) => {
    const row = found.get(id);
    const isOfOthers =
      row?.source === 'tool' || (row?.source === 'output' && row.conversation_id !== session?.conversationId);
    if (!row || row.user_id !== userId || (session && isOfOthers)) {
      throw fail('invalid_request', {
        param: `attachments.${at}.file_id`,
        message: 'There is no such file of this user.',
      });
    }
    return { file_id: id, filename: row.filename ?? id };
  });
}
