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
import type { Statement } from '../../platform/db/group.ts';
import { running } from '../../platform/db/query.ts';
import type { SeenRow } from '../../platform/db/row-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { findCachedUser, forgetCachedUser, isUnchangedUser, type UserRow } from '../../users/index.ts';
import {
  type Committed,
  collectTold,
  concluded,
  insertingConversation,
  type Telling,
  toldOf,
  writingConversation,
} from '../records/change.ts';
import { findSeenConversation } from '../records/conversations.ts';
import { acceptingMessage, runOf } from '../records/message-writes.ts';
import type { ConversationRow, TurnRow } from '../records/tables.ts';
import { goesStraightToWork } from '../records/turn.ts';
import { decideTurn, type NewMessage } from '../transitions/begin-turn.ts';
import { admit } from './accept.ts';
import { mostOfMessage } from './call-price.ts';
import type { Turns } from './ports.ts';

/**
 * The way of a plain message: what it needs to know was seen before, what comes of it is decided here, and all of it is
 * one group of statements which also checks that what was seen is still so. Where it is not, nothing has happened, and
 * the message is taken by whoever holds the conversation and reads everything anew (`acceptMessage`).
 */
export type PlannedConversation = {
  conversation: ConversationRow;
  /** Null where nothing was said in it yet. */
  turn: TurnRow | null;
  statements: readonly Statement[];
  /** To be called with their results, in their order, once they are committed. */
  committed: (results: readonly unknown[]) => Committed;
  /** They were not: something that was seen may be no longer so, and is to be read again. */
  forget: () => void;
};

type Seen = {
  conversation: ConversationRow;
  /** Null where it begins with this. */
  version: string | null;
  deployment: SeenRow<RunnableDeployment>;
  user: SeenRow<UserRow> | null;
  /** As the caller named it. */
  named: string;
};

/** Looks at what was sent, once it is known whose it is. */
type ReadMessage = () => Promise<NewMessage>;

/** A message in a conversation that is there; null where it takes more than the plain way. */
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
  return bySeenRows(engine, { orgId: tenant.orgId, named, user }, () =>
    plan(engine, { conversation, version, deployment, user, named }, read, collectTold()),
  );
}

/**
 * What was seen may no longer be so. A yes is checked by the write that follows it; a no counts only where whoever reads
 * everything anew comes to it too, so it is none here.
 */
export async function bySeenRows<T>(
  { seen }: Pick<Turns, 'seen'>,
  { orgId, named, user }: { orgId: string; named: string; user: SeenRow<UserRow> | null },
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

/** The same in a conversation that begins, or its beginning alone. `told` is what is told of that. */
export async function planConversation(
  engine: Turns,
  of: Omit<Seen, 'version'>,
  read: ReadMessage | null,
  told: ReturnType<typeof collectTold>,
): Promise<PlannedConversation | null> {
  return plan(engine, { ...of, version: null }, read, told);
}

async function plan(
  engine: Turns,
  seen: Seen,
  read: ReadMessage | null,
  told: ReturnType<typeof collectTold>,
): Promise<PlannedConversation | null> {
  const { conversation: before, version, deployment, user } = seen;
  if (user && (user.row.erasing_since !== null || user.row.status !== 'active')) return null;
  const begun = read && (await beginReply(engine, seen, await read(), told));
  if (read && !begun) return null;
  const conversation = begun?.conversation ?? { ...before };
  const entries = concluded(before, conversation, told.appended);
  const statements = [
    version === null
      ? insertingConversation(conversation, entries)
      : writingConversation(conversation, entries, version),
    stillSo(deployment, user),
    ...(begun?.statements ?? []),
    ...toldOf(conversation, told.told).map((event) => emitStatement(event).statement),
  ];
  return {
    conversation,
    turn: begun?.turn ?? null,
    statements,
    committed([written, , , accepted]) {
      const [{ version: now }] = written as [{ version: string }];
      const perform = () => begun?.perform(accepted as { epoch: number }[]);
      return { conversation, version: now, entries, afterwards: begun ? [perform] : [] };
    },
    forget() {
      begun?.place.giveBack();
      engine.seen.conversations.forget(conversation.id);
      forgetDeployment(engine.seen.deployments, conversation.org_id, seen.named);
      if (user) forgetCachedUser(engine.seen.users, user.row);
    },
  };
}

/** The reply starts in this process with the commit; null if it has to wait for anything. */
async function beginReply(engine: Turns, seen: Seen, message: NewMessage, told: Telling) {
  const { conversation: before, deployment, user } = seen;
  const tenant: Tenant = { orgId: before.org_id, mode: before.mode };
  if (goesStraightToWork(message.request) || before.replying_turn_id !== null) return null;
  if (engine.money.hasWaiting(tenant)) return null;
  const admission = await admit(engine, engine.db, before, deployment.row);
  const { conversation, asked, turn } = decideTurn(before, admission, message, told);
  // Reserved before the write: many messages are planned before the first of them is written.
  const place = engine.runner.reserve(before);
  if (!place) return null;
  const micros = mostOfMessage(admission.model, asked.text);
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
    turn,
    place,
    statements: [held.statement, acceptingMessage(asked, turn, place)],
    perform(accepted: { epoch: number | null }[]) {
      const run = runOf(turn, accepted) as Run;
      void engine.runner.perform(run, turn, (signal) => engine.work.reply({ turn, run, fresh }, signal), place);
    },
  };
}

async function seeConversation(
  { db, seen }: Turns,
  { orgId, mode }: Tenant,
  id: string,
): Promise<SeenRow<ConversationRow> | null> {
  const known = seen.conversations.get(id) ?? (await findSeenConversation(db, id));
  if (known?.row.org_id !== orgId || known.row.mode !== mode) return null;
  return known;
}

const stillSo = (deployment: SeenRow<RunnableDeployment>, user: SeenRow<UserRow> | null) =>
  user === null
    ? running(sql`SELECT expect_that(${deploymentIsStill(deployment)}, 'the deployment')`)
    : running(sql`SELECT expect_that(${deploymentIsStill(deployment)}, 'the deployment'),
        expect_that(${isUnchangedUser(user)}, 'the user')`);
