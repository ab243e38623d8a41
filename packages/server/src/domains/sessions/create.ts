import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { BodyOf } from '@vestra/contract/route';
import type { Caller, Origin } from '../../caller.ts';
import { sharedNow } from '../../db/clock.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { defaultDeployment, openConversation } from '../conversations/api.ts';
import { type Committed, findConversation } from '../engine/api.ts';
import { findSettings } from '../orgs/api.ts';
import { actingUser, type UserRow } from '../users/api.ts';
import { presentSession } from './present.ts';
import { newToken, pageUrl, sessionMs } from './session.ts';
import { insertSession } from './store.ts';

type Body = BodyOf<Api['sessions']['create']>;

/** A session, and a conversation where it needs one that was not named. The caller announces that after the commit. */
export async function createSession(
  tx: Transaction,
  { caller, origin, publicUrl }: { caller: Caller; origin: Origin; publicUrl: string },
  body: Body,
) {
  const settings = await findSettings(tx, caller);
  if (body.memory && !settings.memory_panel) {
    throw fail('invalid_request', {
      param: 'memory',
      message: 'The memory panel is off. Switch it on with `memory_panel: true` in PATCH /v1/org first.',
    });
  }
  const { user, conversationId, committed } = await whoAndWhere(tx, caller, body);
  const { token, hash } = newToken();
  const row = await insertSession(tx, {
    id: newId('ses'),
    org_id: caller.orgId,
    mode: caller.mode,
    user_id: user?.id ?? null,
    conversation_id: conversationId,
    token_hash: hash,
    chat: body.chat,
    screen: body.screen === false ? 'false' : body.screen,
    voice: body.voice === false ? null : body.voice === true ? '' : body.voice,
    memory: body.memory,
    driver: body.driver ?? 'bash',
    expires_at: new Date(sharedNow() + sessionMs),
  });
  await recordAudit(tx, origin, {
    action: 'session.created',
    target: { type: 'session', id: row.id },
    details: { chat: row.chat, screen: body.screen, voice: row.voice !== null, memory: row.memory },
  });
  const shown = {
    ...presentSession(row),
    token,
    url: pageUrl(publicUrl, row.id, token),
    frame_ancestors: settings.allowed_embed_origins,
  };
  return { shown, committed };
}

type Place = { user: UserRow | null; conversationId: string | null; committed: Committed | null };

async function whoAndWhere(tx: Transaction, caller: Caller, body: Body): Promise<Place> {
  if (body.conversation_id !== undefined) return inConversation(tx, caller, body.conversation_id, body.user_id);
  const user = await actingUser(tx, caller, body.user_id);
  if (!body.chat && body.voice === false) return { user, conversationId: null, committed: null };
  const deployment = await defaultDeployment(tx, caller, user);
  if (!deployment) {
    throw fail('deployment_required', {
      message: 'Neither the user nor the org has a default deployment. Set one, or name a `conversation_id`.',
    });
  }
  const opened = { tenant: caller, userId: user?.id ?? null, deployment, pinned: null, metadata: {} };
  const { conversation, committed } = await openConversation(tx, opened, async () => {});
  return { user, conversationId: conversation.id, committed };
}

/** Whose conversation it is says whose session it becomes. */
async function inConversation(
  tx: Transaction,
  caller: Caller,
  conversationId: string,
  userId: string | undefined,
): Promise<Place> {
  const conversation = await findConversation(tx, caller, conversationId);
  if (!conversation || conversation.is_hidden) throw fail('conversation_not_found', { param: 'conversation_id' });
  if (userId !== undefined && userId !== conversation.user_id) {
    throw fail('conversation_user_mismatch', { param: 'conversation_id' });
  }
  const user = await actingUser(tx, caller, conversation.user_id ?? undefined);
  return { user, conversationId, committed: null };
}
