import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Opening } from '@vestra/contract/opening';
import type { BodyOf } from '@vestra/contract/route';
import { findSettings, type OrgSettings, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, findDeployment, getVersion } from '../../agents/deployments/index.ts';
import type { Viewer } from '../../computers/index.ts';
import { deploymentFor, findConversation, openConversation } from '../../engine/conversations/index.ts';
import type { CommittedChange } from '../../engine/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { actingUser, type UserRow } from '../../users/index.ts';
import type { SessionRow } from '../tables.ts';
import {
  findById,
  findByToken,
  findLastInDeployment,
  findSession,
  hashToken,
  insertSession,
  lockSessionsOf,
  markRevoked,
  newToken,
  pageUrl,
  type SessionStanding,
  sessionMs,
  statusOf,
  switchedOn,
} from './store.ts';

type Body = BodyOf<Api['sessions']['create']>;

/**
 * Creates a session, and a conversation if it needs one and none was named. The caller announces that after the commit.
 */
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
  const { user, conversationId, deployment, pinned, committed } = await subjectOf(tx, caller, body);
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
    opened_by: caller.key?.id ?? caller.grant?.id ?? null,
    opened_by_member: caller.member?.id ?? null,
    opening: await openingOf(tx, caller, { settings, deployment, pinned }),
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

/** `deployment` is the agent of the conversation. */
type SessionSubject = {
  user: UserRow | null;
  conversationId: string | null;
  deployment: DeploymentRow | null;
  /** The version that the conversation names. */
  pinned: number | null;
  committed: CommittedChange | null;
};

async function subjectOf(tx: Transaction, caller: Caller, body: Body): Promise<SessionSubject> {
  if (body.conversation_id !== undefined) return inConversation(tx, caller, body.conversation_id, body);
  const user = await actingUser(tx, caller, body.user_id);
  if (!body.chat && body.voice === false)
    return { user, conversationId: null, deployment: null, pinned: null, committed: null };
  const { deployment, pinned } = await deploymentFor(tx, caller, body.deployment, user);
  if (body.reuse) {
    const conversationId = await lastConversation(tx, caller, { user, deployment, pinned });
    if (conversationId) return { user, conversationId, deployment, pinned, committed: null };
  }
  const opened = { tenant: caller, userId: user?.id ?? null, deployment, pinned, metadata: {} };
  const { conversation, committed } = await openConversation(tx, opened, async () => {});
  return { user, conversationId: conversation.id, deployment, pinned, committed };
}

/**
 * The conversation of the user's last session with this agent, or null if there is none. Conversations without a
 * session, such as those of a batch, are not chats of the user.
 */
async function lastConversation(
  tx: Transaction,
  caller: Caller,
  { user, deployment, pinned }: { user: UserRow | null; deployment: DeploymentRow; pinned: number | null },
): Promise<string | null> {
  // Without a user all visitors would share one conversation.
  if (!user) throw fail('user_required', { param: 'user_id', message: '`reuse` needs a `user_id`.' });
  await lockSessionsOf(tx, caller, user.id);
  const last = await findLastInDeployment(tx, caller, user.id, deployment.id);
  const conversation = last?.conversation_id && (await findConversation(tx, caller, last.conversation_id));
  if (!conversation || conversation.is_hidden || conversation.pinned_version !== pinned) return null;
  return conversation.id;
}

/** The conversation determines the user and the agent of the session. */
async function inConversation(
  tx: Transaction,
  caller: Caller,
  conversationId: string,
  { user_id: userId, deployment: named }: Body,
): Promise<SessionSubject> {
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
  return { user, conversationId, deployment, pinned: conversation.pinned_version, committed: null };
}

/** The org's opening for this deployment, else the one of the version, else the org's for all deployments. */
async function openingOf(
  tx: Transaction,
  { mode }: Caller,
  { settings, deployment, pinned }: { settings: OrgSettings } & Pick<SessionSubject, 'deployment' | 'pinned'>,
): Promise<Opening | null> {
  if (!deployment) return null;
  const { openings } = settings;
  if (Object.hasOwn(openings, deployment.slug)) return openings[deployment.slug] ?? null;
  const version = pinned ?? (mode === 'test' ? deployment.draft_version : deployment.live_version);
  const written = version === null ? undefined : (await getVersion(tx, deployment, version)).manifest.opening;
  return written ?? openings['*'] ?? null;
}

/** Reads the session for every request, so that revoking it or disabling its user applies at once. */
export function createSessionIdentity(db: Database, now: () => number = sharedNow) {
  return {
    ofSession: async (token: string) => callerOf(await findByToken(db, hashToken(token)), now()),
    /** For callers that proved in another way that they belong to this session. */
    ofSessionId: async (id: string) => callerOf(await findById(db, id), now()),
  };
}

function callerOf(session: SessionStanding | undefined, now: number): Caller {
  if (!session) throw fail('key_invalid', { message: 'No such session token.' });
  const status = statusOf(session, now);
  if (status === 'revoked') throw fail('session_revoked');
  if (status === 'expired') throw fail('session_expired');
  if (session.user_status === 'disabled' || session.user_erasing_since) throw fail('user_disabled');
  return {
    orgId: session.org_id,
    orgStatus: session.org_status,
    mode: session.mode,
    actor: { type: 'session', id: session.id, name: session.user_id ?? 'session' },
    scopes: [],
    key: null,
    member: null,
    grant: null,
    session: {
      id: session.id,
      userId: session.user_id,
      conversationId: session.conversation_id,
      switchedOn: switchedOn(session),
      expiresAt: session.expires_at,
      openedBy: session.opened_by ?? session.opened_by_member,
    },
  };
}

/** Revoking a session that has ended changes nothing. */
export async function revokeSession(tx: Transaction, origin: Origin, sessionId: string): Promise<SessionRow> {
  const row = await markRevoked(tx, origin, sessionId);
  if (!row) throw fail('session_not_found');
  await recordAudit(tx, origin, { action: 'session.revoked', target: { type: 'session', id: sessionId } });
  return row;
}

/** The screen that this session shows, and whether it may control it. */
export async function viewerOf(db: Database, caller: Caller): Promise<Viewer> {
  const row = await findSession(db, caller, caller.actor.id);
  if (!row) throw fail('session_not_found');
  const { orgId, mode, actor } = caller;
  return {
    sessionId: row.id,
    owner: { orgId, mode, userId: row.user_id },
    origin: { orgId, mode, actor, requestId: null, ip: null },
    mayDrive: row.screen === 'control',
    isDriver: row.screen === 'control' && row.driver === 'user',
  };
}

/** A credential for the screen stream of one session, valid for a short time. */
export type ScreenCredentials = {
  make: (sessionId: string) => string;
  isGood: (sessionId: string, credential: string) => boolean;
};

const validMs = 5 * 60_000;

export function createScreenCredentials(secret: Uint8Array, now: () => number = Date.now): ScreenCredentials {
  const sign = (sessionId: string, expires: string) =>
    createHmac('sha256', secret).update(`screen\n${sessionId}\n${expires}`).digest();
  return {
    make(sessionId) {
      const expires = String(now() + validMs);
      return `${expires}.${sign(sessionId, expires).toString('base64url')}`;
    },
    isGood(sessionId, credential) {
      const [expires = '', signature = ''] = credential.split('.', 2);
      const given = Buffer.from(signature, 'base64url');
      const wanted = sign(sessionId, expires);
      return given.length === wanted.length && timingSafeEqual(given, wanted) && Number(expires) > now();
    },
  };
}

/** `isPrivate`: viewers without control currently see nothing of the screen. */
export const presentSession = (row: SessionRow, isPrivate = false, now: number = sharedNow()) => ({
  object: 'session' as const,
  id: row.id,
  user_id: row.user_id,
  conversation_id: row.conversation_id,
  deployment_id: row.deployment_id,
  chat: row.chat,
  screen: row.screen === 'false' ? (false as const) : row.screen,
  voice: row.voice !== null,
  memory: row.memory,
  expires_at: row.expires_at.toISOString(),
  status: statusOf(row, now),
  opening: row.opening,
  ...(isPrivate && row.screen === 'view' && { screen_paused: true as const }),
});
