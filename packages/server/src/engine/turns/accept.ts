import { fail } from '@vestra/contract/errors';
import type { RunnableDeployment } from '../../agents/deployments/index.ts';
import { manifestOf, versionToRun } from '../../agents/versions/index.ts';
import { type BudgetOwner, checkSpending, refusalFailure, releaseHold, reserve } from '../../billing/index.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { pipelined } from '../../platform/db/query.ts';
import type { UserRow } from '../../users/index.ts';
import { findFiles } from '../files/store.ts';
import type { Change } from '../records/change.ts';
import { acceptingMessage, runOf } from '../records/message-writes.ts';
import type { Attachment, ConversationRow, TurnRow } from '../records/tables.ts';
import { usableModel } from '../records/usable-model.ts';
import { type Admission, decideTurn, type NewMessage } from '../transitions/begin-turn.ts';
import { reply } from './begin-reply.ts';
import { beginTask } from './begin-task.ts';
import { mostOfMessage } from './call-price.ts';
import type { AcceptedState, Turns } from './ports.ts';
import { spendingOf } from './spending.ts';

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

/** Accepts a message under the lock of its conversation. `user`: the row, if the caller has just read it. */
export async function acceptMessage(
  engine: Turns,
  change: Change,
  admission: Admission,
  message: NewMessage,
  user: UserRow | null = null,
): Promise<TurnRow> {
  const { tx } = change;
  const tenant: Tenant = { orgId: change.conversation.org_id, mode: change.conversation.mode };
  const { conversation, asked, turn } = decideTurn(change.conversation, admission, message, change);
  Object.assign(change.conversation, conversation);
  const isReplying = turn.state === 'replying';
  const spending = await spendingOf(tx, tenant, conversation.user_id, user);
  const hold = isReplying
    ? await holdForReply(engine, tx, tenant, {
        ...spending,
        amountMicros: mostOfMessage(admission.model, asked.text),
        runId: turn.id,
      })
    : await assertMoneyLeft(tx, tenant, spending);
  const [taken] = await pipelined(tx, [
    acceptingMessage(asked, turn, isReplying ? engine.runner.lease(conversation) : null),
  ]);
  if (isReplying) {
    return reply(engine, change, { turn, run: runOf(turn, taken) }, { isFirstRun: true, hold, asked, user });
  }
  if (turn.state === 'queued') return turn;
  return beginTask(change, turn, { title: null, brief: null, said: '', unstreamed: '' });
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
  await releaseHold(tx, tenant, reservationId);
  return null;
}

async function assertMoneyLeft(tx: Change['tx'], tenant: Tenant, spending: BudgetOwner): Promise<null> {
  const refusal = await checkSpending(tx, tenant, spending);
  if (refusal) throw refusalFailure(refusal);
  return null;
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
