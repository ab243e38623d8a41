import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Opening } from '@vestra/contract/opening';
import type { BodyOf } from '@vestra/contract/route';
import { findSettings, type OrgSettings, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, findDeployment } from '../../agents/deployments/index.ts';
import { deploymentFor, findConversation, openConversation } from '../../engine/conversations/index.ts';
import type { Committed } from '../../engine/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { actingUser, type UserRow } from '../../users/index.ts';
import { presentSession } from './present.ts';
import { newToken, pageUrl, sessionMs } from './session.ts';
import { findLastInDeployment, insertSession, lockSessionsOf } from './store.ts';

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
  const { user, conversationId, deployment, committed } = await whoAndWhere(tx, caller, body);
  const { token, hash } = newToken();
  const row = await insertSession(tx, {
    id: newId('ses'),
    org_id: caller.orgId,
    mode: caller.mode,
    user_id: user?.id ?? null,
    conversation_id: conversationId,
    deployment_id: deployment?.id ?? null,
    token_hash: hash,
    chat: body.chat,
    screen: body.screen === false ? 'false' : body.screen,
    voice: body.voice === false ? null : body.voice === true ? '' : body.voice,
    memory: body.memory,
    driver: body.driver ?? 'bash',
    opening: openingOf(settings, deployment),
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

/** `deployment`: the agent of the conversation. */
type Place = {
  user: UserRow | null;
  conversationId: string | null;
  deployment: DeploymentRow | null;
  committed: Committed | null;
};

async function whoAndWhere(tx: Transaction, caller: Caller, body: Body): Promise<Place> {
  if (body.conversation_id !== undefined) return inConversation(tx, caller, body.conversation_id, body);
  const user = await actingUser(tx, caller, body.user_id);
  if (!body.chat && body.voice === false) return { user, conversationId: null, deployment: null, committed: null };
  const { deployment, pinned } = await deploymentFor(tx, caller, body.deployment, user);
  if (body.reuse) {
    const conversationId = await lastConversation(tx, caller, { user, deployment, pinned });
    if (conversationId) return { user, conversationId, deployment, committed: null };
  }
  const opened = { tenant: caller, userId: user?.id ?? null, deployment, pinned, metadata: {} };
  const { conversation, committed } = await openConversation(tx, opened, async () => {});
  return { user, conversationId: conversation.id, deployment, committed };
}

/**
 * Where the user's last session with this agent went on; null where it is to begin. Conversations that no session of the
 * user was opened in, such as those of a batch, are nobody's chat.
 */
async function lastConversation(
  tx: Transaction,
  caller: Caller,
  { user, deployment, pinned }: { user: UserRow | null; deployment: DeploymentRow; pinned: number | null },
): Promise<string | null> {
  // Without a user everybody's page would go on in one conversation.
  if (!user) throw fail('user_required', { param: 'user_id', message: '`reuse` needs a `user_id`.' });
  await lockSessionsOf(tx, caller, user.id);
  const last = await findLastInDeployment(tx, caller, user.id, deployment.id);
  const conversation = last?.conversation_id && (await findConversation(tx, caller, last.conversation_id));
  if (!conversation || conversation.is_hidden || conversation.pinned_version !== pinned) return null;
  return conversation.id;
}

/** Whose conversation it is says whose session it becomes, and the agent is the one it began with. */
async function inConversation(
  tx: Transaction,
  caller: Caller,
  conversationId: string,
  { user_id: userId, deployment: named }: Body,
): Promise<Place> {
  const conversation = await findConversation(tx, caller, conversationId);
  if (!conversation || conversation.is_hidden) throw fail('conversation_not_found', { param: 'conversation_id' });
  if (userId !== undefined && userId !== conversation.user_id) {
    throw fail('conversation_user_mismatch', { param: 'conversation_id' });
  }
  const user = await actingUser(tx, caller, conversation.user_id ?? undefined);
  const agent = conversation.deployment_id && (await findDeployment(tx, caller.orgId, conversation.deployment_id));
  const deployment = agent ? agent.deployment : null;
  const wanted = named === undefined ? deployment : (await deploymentFor(tx, caller, named, user)).deployment;
  if (wanted?.id !== deployment?.id) {
    throw fail('invalid_deployment', {
      param: 'deployment',
      message: 'The conversation is with another deployment. Leave out `deployment`, or `conversation_id`.',
    });
  }
  return { user, conversationId, deployment, committed: null };
}

/** Of the deployment by its slug, else of all that are not named. */
function openingOf({ openings }: OrgSettings, deployment: DeploymentRow | null): Opening | null {
  if (!deployment) return null;
  return (Object.hasOwn(openings, deployment.slug) ? openings[deployment.slug] : openings['*']) ?? null;
}
