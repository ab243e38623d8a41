import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { RunnableDeployment } from '../../agents/deployments/index.ts';
import { manifestOf, versionToRun } from '../../agents/versions/index.ts';
import { type BudgetOwner, checkSpending, refusalFailure, releaseHold, reserve } from '../../billing/index.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { one, pipelined } from '../../platform/db/query.ts';
import { sql, storableJson, storableText } from '../../platform/db/sql.ts';
import { integer } from '../../platform/db/table.ts';
import type { UserRow } from '../../users/index.ts';
import { findFiles } from '../files/store.ts';
import type { Change } from '../records/change.ts';
import { insertMessage } from '../records/messages.ts';
import { insertPreviewsStatement } from '../records/previews.ts';
import { publishMessage, publishTurn } from '../records/publish.ts';
import type { Attachment, ConversationRow, TurnOrigin, TurnRow } from '../records/tables.ts';
import { acceptMessageStatement, insertTurn, runOf, startsTask } from '../records/turns.ts';
import { type Admission, decideTurn, type NewMessage } from '../transitions/begin-turn.ts';
import type { AcceptedState, OpenTaskLimits, Turns } from './ports.ts';
import { maxCostOfMessage, spendingOf, usableModel } from './spending.ts';
import { beginTask, startReply } from './start-run.ts';

/**
 * In test mode a conversation stays on the version it started on; in live mode each message goes to the live version. A
 * version that was named with `@` stays in both. Test traffic on the draft reads the newest notebooks and skills; all
 * other traffic reads what the version fixes.
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

/** Accepts a message under the lock of its conversation. `user` is the row if the caller has just read it. */
export async function acceptMessage(
  engine: Turns,
  change: Change,
  admission: Admission,
  message: NewMessage,
  user: UserRow | null = null,
): Promise<TurnRow> {
  const { tx } = change;
  // Batches start their items by their own limit, and routines by their schedule.
  if (message.origin === 'message' && startsTask(message.request)) {
    await requireRoomForTask(tx, engine.openTasks, change.conversation);
  }
  const tenant: Tenant = { orgId: change.conversation.org_id, mode: change.conversation.mode };
  const { conversation, asked, turn } = decideTurn(change.conversation, admission, message, change);
  Object.assign(change.conversation, conversation);
  const isReplying = turn.state === 'replying';
  const spending = await spendingOf(tx, tenant, conversation.user_id, user);
  const hold = isReplying
    ? await holdForReply(engine, tx, tenant, {
        ...spending,
        amountMicros: maxCostOfMessage(admission.model, asked.text),
        runId: turn.id,
      })
    : await assertMoneyLeft(tx, tenant, spending);
  const [taken] = await pipelined(tx, [
    acceptMessageStatement(asked, turn, isReplying ? engine.runner.lease(conversation) : null),
  ]);
  if (isReplying) {
    return startReply(engine, change, { turn, run: runOf(turn, taken) }, { isFirstRun: true, hold, asked, user });
  }
  if (turn.state === 'queued') return turn;
  return beginTask(change, turn, { title: null, brief: null, said: '', unstreamed: '' }, { asked, user });
}

/**
 * Reserves money for the first model call. It reserves nothing if other runs wait for money, or if so little is left
 * that concurrent calls could overspend it: the reply then reserves in its turn.
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
  await releaseHold(tx, tenant, reservationId);
  return null;
}

async function assertMoneyLeft(tx: Change['tx'], tenant: Tenant, spending: BudgetOwner): Promise<null> {
  const refusal = await checkSpending(tx, tenant, spending);
  if (refusal) throw refusalFailure(refusal);
  return null;
}

/**
 * Resolves the attachments of a message. The files must belong to the user. A session token may not attach tool files,
 * or output of another conversation.
 */
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

/** Records a message and its answer as a settled turn, for answers that no run produces. */
export async function recordExchange(
  change: Change,
  of: {
    origin: TurnOrigin;
    said: { text: string; context: Record<string, unknown> | null };
    answer: { text: string; data: unknown };
  },
): Promise<TurnRow> {
  const { tx, conversation } = change;
  conversation.turn_count += 1;
  conversation.last_active_at = sharedDate();
  const turnId = newId('turn');
  const place = { conversation_id: conversation.id, turn_id: turnId, turn_ordinal: conversation.turn_count };
  const text = storableText(of.answer.text);
  const data = storableJson(of.answer.data) ?? null;
  const said = await insertMessage(tx, { ...place, id: newId('msg'), role: 'user', ...of.said });
  if (conversation.turn_count === 1) await pipelined(tx, [insertPreviewsStatement([{ conversation, asked: said }])]);
  Object.assign(conversation, { last_error_code: null, last_error_message: null });
  const answer = await insertMessage(tx, { ...place, id: newId('msg'), role: 'agent', text, data });
  const turn = await insertTurn(tx, {
    conversation_id: conversation.id,
    ordinal: conversation.turn_count,
    id: turnId,
    org_id: conversation.org_id,
    mode: conversation.mode,
    user_id: conversation.user_id,
    // No deployment version wrote the answer.
    deployment_id: conversation.deployment_id ?? '',
    deployment_version: conversation.deployment_version ?? 0,
    state: 'settled',
    request: { hand_off: 'auto', plan: false },
    origin: of.origin,
    message_id: said.id,
    reply_message_id: answer.id,
    fence: conversation.fence,
    reply_text: text,
    reply_data: data,
    settled_at: sharedDate(),
  });
  await publishTurn(change, 'turn.started', turn);
  publishMessage(change, answer, text);
  await publishTurn(change, 'turn.settled', turn);
  return turn;
}

const askAgainMs = 5000;

/**
 * Refuses a task if its user or its org has too many that are queued or working. A task that waits for a person uses
 * nothing and does not count. Requests that arrive at the same moment do not see each other, so a few more may start: no
 * more than there are connections. Only messages that start a task pay for the count.
 */
async function requireRoomForTask(
  tx: Transaction,
  limits: OpenTaskLimits,
  { id, org_id, mode, user_id }: Pick<ConversationRow, 'id' | 'org_id' | 'mode' | 'user_id'>,
): Promise<void> {
  const isSameOwner = user_id === null ? sql`conversation_id = ${id}` : sql`user_id = ${user_id}`;
  const open = await one(
    tx,
    { of_org: integer(), of_owner: integer() },
    sql`SELECT count(*)::int AS of_org, (count(*) FILTER (WHERE ${isSameOwner}))::int AS of_owner
      FROM (
        SELECT user_id, conversation_id FROM tasks
        WHERE org_id = ${org_id} AND mode = ${mode} AND status IN ('queued', 'working') LIMIT ${limits.ofOrg}
      ) AS open`,
  );
  if (open.of_owner >= limits.ofUser) throw tooManyTasks(limits.ofUser, user_id === null ? 'conversation' : 'user');
  if (open.of_org >= limits.ofOrg) throw tooManyTasks(limits.ofOrg, 'org');
}

const tooManyTasks = (most: number, whose: string) =>
  fail('rate_limited', {
    message: `At most ${most} tasks of one ${whose} may be queued or working at once. Wait until one ends, or use a batch.`,
    retry_after_ms: askAgainMs,
  });
