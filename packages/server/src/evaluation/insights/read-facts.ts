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
  questionsOfAnswers,
  turnsThatFailed,
  type UserMessage,
  userMessages,
} from '../../engine/activity/index.ts';
import { createBreather, mapInParts } from '../../platform/async/breather.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import { allowanceOfConversations, type ConversationAllowance, idsAllowedBy } from '../allowed-conversations.ts';
import { messageFeedback } from '../tables.ts';
import { type ComparedText, comparedText, sharedWords } from './cause-words.ts';
import type { FoundFact, InsightFact, InsightKind } from './insight-fact.ts';

/** Facts since `middle` are reported. Those before it are counted, to show the trend. `until` is exclusive. */
type FactPeriod = { since: Date; middle: Date; until: Date };

type ReadFacts = {
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

/** Bad ratings of a deployment's answers in the period, newest first. A rating counts when it was last changed. */
async function badRatings(
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  { since, until, limit }: { since: Date; until: Date; limit: number },
): Promise<FoundFact[]> {
  const rows = await rowsOf(
    db,
    messageFeedback,
    sql`SELECT ${columnsOf(messageFeedback)} FROM ${messageFeedback}
        WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId} AND rating = 'bad'
          AND updated_at >= ${since} AND updated_at < ${until}
        ORDER BY id DESC LIMIT ${limit}`,
  );
  if (rows.length === 0) return [];
  const asked = new Map((await questionsOfAnswers(db, rows)).map((each) => [each.message_id, each]));
  const facts = await mapInParts(rows, ({ conversation_id, message_id, note, updated_at }): FoundFact | null => {
    const answered = asked.get(message_id);
    if (!answered) return null;
    return {
      kind: 'bad_rating',
      subject: '',
      said: comparedText(answered.asked),
      conversationId: conversation_id,
      turnId: answered.turn_id,
      taskId: answered.task_id,
      at: updated_at,
      excerpt: note ?? answered.asked,
    };
  });
  return facts.filter((fact) => fact !== null);
}

/** Two messages with this share of words in common say the same. */
const leastShared = 0.6;
/** "Yes" and "thank you" are no questions that somebody repeats. */
const leastWords = 2;
/** A message is compared with so many messages before it. */
const maxCompared = 20;

/** Messages that say nearly the same as an earlier one of the same conversation. The input has the order of time. */
async function repeatedMessages(messages: readonly UserMessage[]): Promise<FoundFact[]> {
  const facts: FoundFact[] = [];
  let earlier: ComparedText[] = [];
  let conversationId: string | null = null;
  const breathe = createBreather();
  for (const message of messages) {
    await breathe();
    if (message.conversation_id !== conversationId) earlier = [];
    conversationId = message.conversation_id;
    const said = comparedText(message.text);
    if (said.stems.size < leastWords) continue;
    if (earlier.some((before) => sharedWords(before, said) >= leastShared)) facts.push(factOfRepeat(message, said));
    earlier = [...earlier, said].slice(-maxCompared);
  }
  return facts;
}

const factOfRepeat = ({ conversation_id, turn_id, text, at }: UserMessage, said: ComparedText): FoundFact => ({
  kind: 'repeated_question',
  subject: '',
  said,
  conversationId: conversation_id,
  turnId: turn_id,
  taskId: null,
  at,
  excerpt: text,
});

/** Conversations from which on a median is compared. */
const leastForMedian = 20;
/** How many times the median a value must exceed. */
export const timesMedian = 3;

/** The rows whose value is above three times the median of the current rows. None if there are too few, or it is 0. */
function outliersOf<Row extends { id: string }>(
  rows: readonly Row[],
  isCurrent: ReadonlySet<string>,
  measure: (row: Row) => number,
): { row: Row; value: number; times: number }[] {
  const median = medianOf(rows.filter(({ id }) => isCurrent.has(id)).map(measure));
  if (isCurrent.size < leastForMedian || median === 0) return [];
  return rows
    .map((row) => ({ row, value: measure(row), times: measure(row) / median }))
    .filter(({ times }) => times > timesMedian);
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
