import { costsOf } from '../../billing/index.ts';
import {
  type ActiveConversation,
  activeConversations,
  type CallActivity,
  type ConversationsMark,
  callsWithoutResult,
  type InteractionActivity,
  interactionsWithoutConsent,
  markConversations,
  mostCalledTools,
  turnsThatFailed,
  userMessages,
} from '../../engine/activity/index.ts';
import { mapInParts } from '../../platform/async/breather.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { allowanceOfConversations, type ConversationAllowance, idsAllowedBy } from '../allowed-conversations.ts';
import { badRatings } from './bad-ratings.ts';
import { comparedText } from './cause-words.ts';
import type { FoundFact, InsightFact, InsightKind } from './insight-fact.ts';
import { outliersOf } from './outliers.ts';
import { repeatedMessages } from './repeated-messages.ts';

/** Facts since `middle` are reported. Those before it are counted, to show the trend. `until` is exclusive. */
export type FactPeriod = { since: Date; middle: Date; until: Date };

export type ReadFacts = {
  facts: InsightFact[];
  conversations: ActiveConversation[];
  mark: ConversationsMark;
  quoted: ConversationAllowance;
  /** False if a limit left out a part of the period since `middle`. */
  isComplete: boolean;
  /** False if a limit left out a part of the period before `middle`. */
  isPreviousComplete: boolean;
};

const maxConversations = 5_000;
/** Of each kind. */
const maxFacts = 2_000;
const maxMessages = 10_000;

/** Reads the facts of these kinds, newest first within a kind. */
export async function readFacts(
  db: Executor,
  tenant: Tenant,
  deploymentId: string,
  { period, kinds }: { period: FactPeriod; kinds: readonly InsightKind[] },
): Promise<ReadFacts> {
  const active = { ...period, limit: maxConversations };
  const mark = await markConversations(db, tenant, deploymentId, active);
  const { conversations, readSince } = await activeConversations(db, tenant, deploymentId, active);
  const ids = conversations.map(({ id }) => id);
  const bounded = { since: period.since, until: period.until, limit: maxFacts };
  const wants = (...wanted: InsightKind[]) => ids.length > 0 && wanted.some((kind) => kinds.includes(kind));
  const failed = wants('failed_reply') ? await turnsThatFailed(db, ids, bounded) : [];
  const ratings = wants('bad_rating') ? await badRatings(db, tenant, deploymentId, bounded) : [];
  const interactions = wants('declined_approval', 'expired_question')
    ? await interactionsWithoutConsent(db, tenant, ids, bounded)
    : [];
  const calls = wants('empty_search', 'tool_error') ? await callsWithoutResult(db, ids, bounded) : [];
  const talkative = conversations.filter(({ turns, turns_before }) => turns + turns_before > 1).map(({ id }) => id);
  const messages =
    wants('repeated_question') && talkative.length > 0
      ? await userMessages(db, talkative, { ...bounded, limit: maxMessages })
      : [];
  const known = new Set(ids);
  const quoted = await allowanceOfConversations(db, tenant);
  const allowed = await idsAllowedBy(quoted, db, tenant, ids);
  const facts = [
    ...failed.map(factOfTurn),
    ...ratings.filter(({ conversationId }) => known.has(conversationId)),
    ...(await mapInParts(interactions, factOfInteraction)),
    ...(await mapInParts(calls, factOfCall)),
    ...(await repeatedMessages(messages)).slice(0, maxFacts),
    ...(await outlierFacts(db, conversations, { ...bounded, kinds })),
  ];
  // A list that reached its limit has nothing older than its last row.
  const oldestOfCut = [
    ...[failed, ratings, interactions, calls].map((rows) => (rows.length === maxFacts ? rows.at(-1)?.at : undefined)),
    messages.length === maxMessages ? messages.at(-1)?.at : undefined,
    readSince ?? undefined,
  ].filter((at) => at !== undefined);
  return {
    facts: facts.filter(({ kind }) => kinds.includes(kind)).map((fact) => quotedIf(allowed, fact)),
    conversations,
    mark,
    quoted,
    isComplete: oldestOfCut.every((at) => at < period.middle),
    isPreviousComplete: oldestOfCut.every((at) => at < period.since),
  };
}

/** Without what somebody wrote: the code or the tool alone is the cause. */
const quotedIf = (allowed: ReadonlySet<string>, fact: FoundFact): InsightFact =>
  allowed.has(fact.conversationId)
    ? { ...fact, isQuotable: true }
    : { ...fact, said: null, excerpt: '', isQuotable: false };

const factOfTurn = (turn: Awaited<ReturnType<typeof turnsThatFailed>>[number]): FoundFact => ({
  kind: 'failed_reply',
  subject: turn.code,
  said: null,
  conversationId: turn.conversation_id,
  turnId: turn.turn_id,
  taskId: turn.task_id,
  at: turn.at,
  excerpt: turn.asked || (turn.error ?? ''),
});

function factOfInteraction(asked: InteractionActivity): FoundFact {
  const isQuestion = asked.type === 'question' && asked.question !== null;
  return {
    kind: asked.status === 'expired' ? 'expired_question' : 'declined_approval',
    subject: isQuestion ? '' : shownToolName(asked.tool ?? asked.app ?? asked.kind),
    said: isQuestion ? comparedText(asked.question ?? '') : null,
    conversationId: asked.conversation_id,
    turnId: asked.turn_id,
    taskId: asked.task_id,
    at: asked.at,
    excerpt: asked.question ?? asked.summary,
  };
}

const factOfCall = (call: CallActivity): FoundFact => ({
  kind: call.result === 'error' ? 'tool_error' : 'empty_search',
  subject: call.result === 'error' ? shownToolName(call.name) : '',
  said: comparedText(call.result === 'error' ? call.output : (call.query ?? '')),
  conversationId: call.conversation_id,
  turnId: call.turn_id,
  taskId: call.task_id,
  at: call.at,
  excerpt: call.result === 'error' ? call.output : (call.query ?? ''),
});

/** `crm.find_order` instead of the name for models, `mcp__crm__find_order`. */
const shownToolName = (name: string): string => name.replace(/^mcp__([a-z0-9-]+)__/, '$1.');

async function outlierFacts(
  db: Executor,
  conversations: readonly ActiveConversation[],
  { since, until, kinds }: { since: Date; until: Date; kinds: readonly InsightKind[] },
): Promise<FoundFact[]> {
  const isCurrent = new Set(conversations.filter(({ turns }) => turns > 0).map(({ id }) => id));
  const ids = conversations.map(({ id }) => id);
  const costs = kinds.includes('cost_outlier') && ids.length > 0 ? await costsOf(db, { conversationIds: ids }) : null;
  const of = (kind: 'cost_outlier' | 'latency_outlier', measure: (of: ActiveConversation) => number) =>
    kinds.includes(kind) ? outliersOf(conversations, isCurrent, measure).map((found) => ({ kind, ...found })) : [];
  const found = [
    ...of('cost_outlier', ({ id }) => Number(costs?.get(id)?.totalMicros ?? 0n)),
    ...of('latency_outlier', (each) => each.longest_reply_ms),
  ].slice(0, maxFacts);
  if (found.length === 0) return [];
  const tools = await mostCalledTools(db, [...new Set(found.map(({ row }) => row.id))], { since, until });
  return found.map(({ kind, row, value, times }) => ({
    kind,
    subject: shownToolName(tools.get(row.id) ?? ''),
    said: null,
    conversationId: row.id,
    turnId: null,
    taskId: null,
    at: row.last_turn_at,
    excerpt: excerptOfOutlier(kind, value, times),
  }));
}

const excerptOfOutlier = (kind: InsightKind, value: number, times: number): string =>
  kind === 'cost_outlier'
    ? `$${(value / 1_000_000).toFixed(4)}, ${times.toFixed(1)} times the median`
    : `${(value / 1000).toFixed(1)} s for the longest reply, ${times.toFixed(1)} times the median`;
