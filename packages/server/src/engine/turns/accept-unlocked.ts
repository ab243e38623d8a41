import { Failure } from '@vestra/contract/errors';
import { emitStatement } from '../../account/index.ts';
import {
  deploymentIsStill,
  forgetDeployment,
  type RunnableDeployment,
  seeDeployment,
} from '../../agents/deployments/index.ts';
import { optimisticHoldStatement } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Statement } from '../../platform/db/pipeline.ts';
import { runStatement } from '../../platform/db/query.ts';
import type { CachedRow } from '../../platform/db/row-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { findCachedUser, forgetCachedUser, isUnchangedUser, type UserRow } from '../../users/index.ts';
import { type CommittedChange, collectEvents, concludeChange, type EventSink, orgEventsOf } from '../records/change.ts';
import { insertConversationStatement, writeConversationStatement } from '../records/conversation-log.ts';
import { findVersionedConversation } from '../records/conversations.ts';
import { previewOf } from '../records/previews.ts';
import type { ConversationRow, TurnRow } from '../records/tables.ts';
import { acceptMessageStatement, runOf, startsTask } from '../records/turns.ts';
import { decideTurn, type NewMessage } from '../transitions/begin-turn.ts';
import { admit } from './accept.ts';
import type { Turns } from './ports.ts';
import { maxCostOfMessage } from './spending.ts';

/**
 * A message that is accepted without a lock. The decision uses cached rows, and one group of statements writes it and
 * checks that those rows are unchanged. If one has changed, nothing is written, and `acceptMessage` accepts the message
 * under the lock.
 */
export type PlannedConversation = {
  conversation: ConversationRow;
  /** Null if the conversation starts without a message. */
  turn: TurnRow | null;
  /** The first words of the message; empty without one. */
  preview: string;
  statements: readonly Statement[];
  /** Called with the results of the statements after the commit. */
  committed: (results: readonly unknown[]) => CommittedChange;
  /** Called if the statements were not committed. Drops the cached rows, which may be stale. */
  forget: () => void;
};

type Seen = {
  conversation: ConversationRow;
  /** Null for a new conversation. */
  version: string | null;
  deployment: CachedRow<RunnableDeployment>;
  user: CachedRow<UserRow> | null;
  /** The deployment as the caller named it. */
  named: string;
};

/** Validates the request body. */
type ReadMessage = () => Promise<NewMessage>;

/** Plans a message in an existing conversation; null if it needs the lock. */
export async function planMessage(
  engine: Turns,
  tenant: Tenant,
  conversationId: string,
  read: ReadMessage,
): Promise<PlannedConversation | null> {
  const seen = await seeConversation(engine, tenant, conversationId);
  if (!seen || seen.row.deployment_id === null) return null;
  const { user_id: userId, deployment_id: named } = seen.row;
  const [deployment, user] = await Promise.all([
    seeDeployment({ db: engine.db, seen: engine.seen.deployments }, tenant.orgId, named),
    userId === null ? null : findCachedUser({ db: engine.db, seen: engine.seen.users }, tenant, userId),
  ]);
  if (!deployment || user === undefined) return null;
  const { row: conversation, version } = seen;
  return decideFromCache(engine, { orgId: tenant.orgId, named, user }, () =>
    plan(engine, { conversation, version, deployment, user, named }, read, collectEvents()),
  );
}

/**
 * Cached rows may be stale. The write checks an acceptance, but nothing checks a refusal. So a refusal returns null
 * here, and the locked path decides again.
 */
export async function decideFromCache<T>(
  { seen }: Pick<Turns, 'seen'>,
  { orgId, named, user }: { orgId: string; named: string; user: CachedRow<UserRow> | null },
  decide: () => Promise<T | null>,
): Promise<T | null> {
  const decided = await decide().catch((error: unknown) => {
    if (error instanceof Failure) return null;
    throw error;
  });
  if (decided !== null) return decided;
  forgetDeployment(seen.deployments, orgId, named);
  if (user) forgetCachedUser(seen.users, user.row);
  return null;
}

/** Plans a new conversation, with or without a first message. `events` has the events of its creation. */
export async function planConversation(
  engine: Turns,
  of: Omit<Seen, 'version'>,
  read: ReadMessage | null,
  events: ReturnType<typeof collectEvents>,
): Promise<PlannedConversation | null> {
  return plan(engine, { ...of, version: null }, read, events);
}

async function plan(
  engine: Turns,
  seen: Seen,
  read: ReadMessage | null,
  events: ReturnType<typeof collectEvents>,
): Promise<PlannedConversation | null> {
  const { conversation: before, version, deployment, user } = seen;
  if (user && (user.row.erasing_since !== null || user.row.status !== 'active')) return null;
  const begun = read && (await planReply(engine, seen, await read(), events));
  if (read && !begun) return null;
  const conversation = begun?.conversation ?? { ...before };
  const entries = concludeChange(before, conversation, events.logged);
  const statements = [
    version === null
      ? insertConversationStatement(conversation, entries)
      : writeConversationStatement(conversation, entries, version),
    unchangedStatement(deployment, user),
    ...(begun?.statements ?? []),
    ...orgEventsOf(conversation, events.emitted).map((event) => emitStatement(event).statement),
  ];
  return {
    conversation,
    turn: begun?.turn ?? null,
    preview: begun ? previewOf(begun.asked) : '',
    statements,
    committed([written, , , accepted]) {
      const [{ version: now }] = written as [{ version: string }];
      const perform = () => begun?.perform(accepted as { epoch: number }[]);
      return { conversation, version: now, entries, afterwards: begun ? [perform] : [] };
    },
    forget() {
      begun?.slot.release();
      engine.seen.conversations.forget(conversation.id);
      forgetDeployment(engine.seen.deployments, conversation.org_id, seen.named);
      if (user) forgetCachedUser(engine.seen.users, user.row);
    },
  };
}

/** Plans a reply that starts in this process with the commit; null if it has to wait for anything. */
async function planReply(engine: Turns, seen: Seen, message: NewMessage, events: EventSink) {
  const { conversation: before, deployment, user } = seen;
  const tenant: Tenant = { orgId: before.org_id, mode: before.mode };
  if (startsTask(message.request) || before.replying_turn_id !== null) return null;
  if (engine.money.hasWaiting(tenant)) return null;
  const admission = await admit(engine, engine.db, before, deployment.row);
  const { conversation, asked, turn } = decideTurn(before, admission, message, events);
  // Reserved before the write, because many messages are planned before the first of them is written.
  const slot = engine.runner.reserve(before);
  if (!slot) return null;
  const micros = maxCostOfMessage(admission.model, asked.text);
  const userCaps = user && { daily: user.row.daily_cap_micros, monthly: user.row.monthly_cap_micros };
  const held = optimisticHoldStatement(tenant, {
    userId: before.user_id,
    userCaps,
    amountMicros: micros,
    runId: turn.id,
  });
  const fresh = {
    isFirstRun: true,
    hold: { reservationId: held.reservationId, micros },
    asked,
    user: user?.row ?? null,
  };
  return {
    conversation,
    asked,
    turn,
    slot,
    statements: [held.statement, acceptMessageStatement(asked, turn, slot)],
    perform(accepted: { epoch: number | null }[]) {
      const run = runOf(turn, accepted) as RunLease;
      void engine.runner.perform(run, turn, (signal) => engine.work.reply({ turn, run, fresh }, signal), slot);
    },
  };
}

async function seeConversation(
  { db, seen }: Turns,
  { orgId, mode }: Tenant,
  id: string,
): Promise<CachedRow<ConversationRow> | null> {
  const known = seen.conversations.get(id) ?? (await findVersionedConversation(db, id));
  if (known?.row.org_id !== orgId || known.row.mode !== mode) return null;
  return known;
}

const unchangedStatement = (deployment: CachedRow<RunnableDeployment>, user: CachedRow<UserRow> | null) =>
  user === null
    ? runStatement(sql`SELECT expect_that(${deploymentIsStill(deployment)}, 'the deployment')`)
    : runStatement(sql`SELECT expect_that(${deploymentIsStill(deployment)}, 'the deployment'),
        expect_that(${isUnchangedUser(user)}, 'the user')`);
