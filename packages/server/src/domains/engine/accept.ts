import { newFence } from '@vestra/agent/prompt/data';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { PricedModel } from '@vestra/models/prices';
import type { Tenant } from '../../caller.ts';
import { type DeploymentRow, versionToRun } from '../deployments/api.ts';
import { findFiles } from '../files/api.ts';
import { refusalFailure, release } from '../ledger/api.ts';
import { beginReply } from './begin-reply.ts';
import { beginTask } from './begin-task.ts';
import type { Change } from './change.ts';
import type { Engine } from './ports.ts';
import { reserveFor } from './purse.ts';
import { insertMessage, insertTurn, updateTurn } from './store.ts';
import type { Attachment, ConversationRow, TurnRow } from './tables.ts';
import { tellTurn } from './tell.ts';
import { goesStraightToWork, type TurnOrigin, type TurnRequest } from './turn.ts';
import { usableModel } from './usable-model.ts';
import { manifestOf } from './version-cache.ts';

/** A message on its way into a conversation. */
export type NewMessage = {
  text: string;
  context: Record<string, unknown> | null;
  attachments: readonly Attachment[];
  request: TurnRequest;
  origin: TurnOrigin;
};

/** What stands behind a message that may be taken: decided before anything is written. */
export type Admission = { version: number; model: PricedModel };

/**
 * In test mode a conversation stays on the version it started on; in live mode each message goes to the version that is
 * live. A version that was named with `@` stays in both.
 */
export async function admit(
  { models }: Engine,
  tx: Change['tx'],
  conversation: Pick<ConversationRow, 'mode' | 'pinned_version' | 'deployment_version'>,
  deployment: DeploymentRow,
): Promise<Admission> {
  const { mode, pinned_version } = conversation;
  const kept = mode === 'test' ? conversation.deployment_version : null;
  const version = versionToRun(deployment, mode, pinned_version ?? kept);
  const manifest = await manifestOf(tx, deployment.id, version);
  return { version, model: usableModel(models, mode, manifest.model) };
}

/** Takes the message: it is kept, its turn begins or waits behind the reply that is being made. */
export async function acceptMessage(
  engine: Engine,
  change: Change,
  { version, model }: Admission,
  message: NewMessage,
): Promise<TurnRow> {
  const { tx, conversation } = change;
  const tenant: Tenant = { orgId: conversation.org_id, mode: conversation.mode };
  const held = await reserveFor(tx, tenant, conversation.user_id, model.price);
  if (!held.allowed && !held.isHeldByRunningCalls) throw refusalFailure(held);
  const reservationId = held.allowed ? held.reservationId : null;

  conversation.turn_count += 1;
  conversation.deployment_version = version;
  conversation.last_active_at = new Date();
  const turnId = newId('turn');
  const messageId = newId('msg');
  await insertMessage(tx, {
    conversation_id: conversation.id,
    id: messageId,
    turn_id: turnId,
    turn_ordinal: conversation.turn_count,
    role: 'user',
    text: message.text,
    context: message.context,
    attachments: [...message.attachments],
  });
  const turn = await insertTurn(tx, {
    conversation_id: conversation.id,
    ordinal: conversation.turn_count,
    id: turnId,
    org_id: conversation.org_id,
    mode: conversation.mode,
    user_id: conversation.user_id,
    deployment_id: conversation.deployment_id as string,
    deployment_version: version,
    state: 'queued',
    request: message.request,
    origin: message.origin,
    message_id: messageId,
    reply_message_id: newId('msg'),
    fence: newFence(),
  });
  if (goesStraightToWork(message.request)) {
    await letGo(tx, tenant, reservationId);
    const begun = await updateTurn(tx, turn.id, { history_until: messageId, state: 'working' });
    await tellTurn(change, 'turn.started', begun);
    return beginTask(engine, change, begun, { title: null, brief: null, said: '', unstreamed: '' });
  }
  if (conversation.replying_turn_id === null) return beginReply(engine, change, turn, reservationId);
  await letGo(tx, tenant, reservationId);
  return turn;
}

async function letGo(tx: Change['tx'], tenant: Tenant, reservationId: string | null): Promise<void> {
  if (reservationId !== null) await release(tx, tenant, reservationId);
}

/** The files a message brings: the user's own, each with its name. */
export async function readAttachments(
  tx: Change['tx'],
  tenant: Tenant,
  userId: string | null,
  attached: readonly { file_id: string }[],
): Promise<Attachment[]> {
  if (attached.length === 0) return [];
  const ids = attached.map(({ file_id }) => file_id);
  const found = new Map((await findFiles(tx, tenant, ids)).map((row) => [row.id, row]));
  return ids.map((id, at) => {
    const row = found.get(id);
    if (!row || row.user_id !== userId) {
      throw fail('invalid_request', {
        param: `attachments.${at}.file_id`,
        message: 'There is no such file of this user.',
      });
    }
    return { file_id: id, filename: row.filename ?? id };
  });
}
