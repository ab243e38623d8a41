import { fail } from '@vestra/contract/errors';
import { insightKinds, maxInsightDays } from '@vestra/contract/insights';
import type { Embeddings } from '../../agents/index.ts';
import { type ConversationsMark, isMarkValid, shownExcerpt } from '../../engine/activity/index.ts';
import { mapInParts } from '../../platform/async/breather.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { allowanceOfConversations, type ConversationAllowance } from '../allowed-conversations.ts';
import { type Nearness, nearnessOf } from './cause-clusters.ts';
import type { InsightFact, InsightKind } from './insight-fact.ts';
import { groupFacts, type InsightGroup } from './insight-groups.ts';
import { readFacts } from './read-facts.ts';

const dayMs = 86_400_000;
const defaultDays = 7;
const maxExamples = 5;
const maxExcerpt = 160;

/** The days of a report, in UTC, both inclusive. */
type InsightWindow = { from: string; to: string };

/** Without `to` the window ends today. Without `from` it has seven days. */
export function insightWindow({ from, to }: { from?: string | undefined; to?: string | undefined }): InsightWindow {
  const last = to ?? dateOf(sharedDate());
  const first = from ?? dateOf(new Date(Math.max(startOf(last) - (defaultDays - 1) * dayMs, startOf('0000-01-01'))));
  if (startOf(first) > startOf(last)) {
    throw fail('invalid_window', {
      param: 'from',
      message: `The period begins on ${first}, after its end on ${last}.`,
    });
  }
  const days = daysIn({ from: first, to: last });
  if (days > maxInsightDays) {
    throw fail('invalid_window', {
      param: 'from',
      message: `The period has ${days} days; at most ${maxInsightDays} are reported at once.`,
    });
  }
  return { from: first, to: last };
}

const startOf = (date: string) => Date.parse(`${date}T00:00:00.000Z`);
const dateOf = (moment: Date) => moment.toISOString().slice(0, 10);
/** PostgreSQL has no year 0, and JavaScript writes years from 10000 on with a sign. */
const storableDate = (ms: number) => new Date(Math.min(Math.max(ms, startOf('1970-01-01')), startOf('9999-12-31')));
const daysIn = ({ from, to }: InsightWindow) => (startOf(to) - startOf(from)) / dayMs + 1;

/** Only what is shown of a group, so that a cached report is small. */
export type Insight = Pick<InsightGroup, 'id' | 'kind' | 'title' | 'cause'> & {
  count: number;
  /** In the period before. */
  previousCount: number;
  conversations: number;
  countOfDay: ReadonlyMap<string, number>;
  examples: Pick<InsightFact, 'conversationId' | 'turnId' | 'taskId' | 'at' | 'excerpt'>[];
  /** The most frequent texts, with a conversation of each. Empty if the title is exact without a model. */
  quotes: Quote[];
};

type Quote = { text: string; conversationId: string };

export type InsightReport = {
  insights: Insight[];
  totalConversations: number;
  mark: ConversationsMark;
  quoted: ConversationAllowance;
  isComplete: boolean;
  /** False if the number of the period before is not known. */
  isPreviousComplete: boolean;
};

/** The insights of a deployment in a window, most conversations first. */
export async function findInsights(
  db: Executor,
  { embeddings, signal }: { embeddings: Embeddings; signal: AbortSignal },
  tenant: Tenant,
  { deploymentId, window, kind }: { deploymentId: string; window: InsightWindow; kind: InsightKind | undefined },
): Promise<InsightReport> {
  const middle = startOf(window.from);
  const period = {
    since: storableDate(middle - daysIn(window) * dayMs),
    middle: storableDate(middle),
    until: storableDate(startOf(window.to) + dayMs),
  };
  const kinds = kind === undefined ? insightKinds : [kind];
  const { facts, conversations, mark, quoted, isComplete, isPreviousComplete } = await readFacts(
    db,
    tenant,
    deploymentId,
    {
      period,
      kinds,
    },
  );
  const groups = await groupFacts(deploymentId, facts, await nearnessOfKinds(embeddings, facts, signal));
  const shown = await mapInParts(groups, (group) => insightOf(group, middle));
  const insights = shown.filter(({ count }) => count > 0);
  return {
    insights: insights.sort((a, b) => b.conversations - a.conversations || (a.id < b.id ? -1 : 1)),
    totalConversations: conversations.filter(({ turns }) => turns > 0).length,
    mark,
    quoted,
    isComplete,
    isPreviousComplete,
  };
}

const daysRead = 30;
const maxConversationsNamed = 50;

/** The conversations of an insight in the last 30 days, newest first. Null if the deployment has no such insight. */
export async function conversationsOfInsight(
  db: Executor,
  tenant: Tenant,
  deploymentId: string,
  insightId: string,
): Promise<{ title: string; conversationIds: string[] } | null> {
  const until = sharedDate();
  const since = new Date(until.getTime() - daysRead * dayMs);
  const period = { since, middle: since, until: new Date(until.getTime() + dayMs) };
  const { facts } = await readFacts(db, tenant, deploymentId, { period, kinds: insightKinds });
  const groups = await groupFacts(deploymentId, facts);
  const group = groups.find(({ id }) => id === insightId) ?? groups.find(({ otherIds }) => otherIds.has(insightId));
  if (!group) return null;
  const conversationIds = [...new Set(group.facts.map(({ conversationId }) => conversationId))];
  return { title: group.title, conversationIds: conversationIds.slice(0, maxConversationsNamed) };
}

async function nearnessOfKinds(embeddings: Embeddings, facts: readonly InsightFact[], signal: AbortSignal) {
  const nearness = new Map<InsightKind, Nearness>();
  for (const [kind, ofKind] of Map.groupBy(facts, (fact) => fact.kind)) {
    const texts = ofKind.flatMap(({ said }) => said ?? []);
    const compare = await nearnessOf(embeddings, texts, signal);
    if (compare) nearness.set(kind, compare);
  }
  return nearness;
}

function insightOf({ id, kind, title, cause, facts }: InsightGroup, middle: number): Insight {
  const current = facts.filter(({ at }) => at.getTime() >= middle);
  const byDay = Map.groupBy(current, ({ at }) => dateOf(at));
  return {
    ...{ id, kind, title, cause },
    count: current.length,
    previousCount: facts.length - current.length,
    conversations: new Set(current.map(({ conversationId }) => conversationId)).size,
    countOfDay: new Map([...byDay].map(([date, ofDay]) => [date, ofDay.length])),
    examples: examplesOf(current.filter(({ isQuotable }) => isQuotable)),
    quotes: quotesOf(current),
  };
}

const maxQuotes = 3;

function quotesOf(facts: readonly InsightFact[]): Quote[] {
  const byKey = Map.groupBy(
    facts.filter(({ said }) => said !== null),
    ({ said }) => said?.key ?? '',
  );
  const mostFrequent = [...byKey].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
  return mostFrequent
    .slice(0, maxQuotes)
    .flatMap(([, [fact]]) => (fact?.said ? [{ text: fact.said.text, conversationId: fact.conversationId }] : []));
}

export function presentInsight(
  insight: Insight,
  window: InsightWindow,
  report: InsightReport,
  names: ReadonlyMap<string, string>,
) {
  const { totalConversations, isPreviousComplete } = report;
  const { id, kind, title, cause, count, previousCount, conversations, countOfDay, examples } = insight;
  const days = Array.from({ length: daysIn(window) }, (_, at) => dateOf(new Date(startOf(window.from) + at * dayMs)));
  return {
    object: 'insight' as const,
    id,
    kind,
    title: shownExcerpt(title, maxExcerpt),
    name: names.get(id) || null,
    cause: shownExcerpt(cause, maxExcerpt),
    count,
    conversations,
    share: totalConversations === 0 ? 0 : Math.min(1, Math.round((conversations / totalConversations) * 1000) / 1000),
    trend: {
      previous_count: isPreviousComplete ? previousCount : null,
      days: days.map((date) => ({ date, count: countOfDay.get(date) ?? 0 })),
    },
    examples: examples.map(presentExample),
  };
}

/** The newest of each conversation. */
function examplesOf(facts: readonly InsightFact[]): Insight['examples'] {
  const byConversation = Map.groupBy(facts, ({ conversationId }) => conversationId);
  const newest = [...byConversation.values()].flatMap(([fact]) => fact ?? []).slice(0, maxExamples);
  return newest.map(({ conversationId, turnId, taskId, at, excerpt }) => ({
    ...{ conversationId, turnId, taskId, at, excerpt },
  }));
}

const presentExample = ({ conversationId, turnId, taskId, at, excerpt }: Insight['examples'][number]) => ({
  conversation_id: conversationId,
  turn_id: turnId,
  task_id: taskId,
  at: at.toISOString(),
  excerpt: shownExcerpt(excerpt, maxExcerpt) || null,
});

/** A report of fewer conversations is read again each time, so that a rating shows at once. */
const leastConversationsCached = 1_000;
const cachedMs = 60_000;
const maxReportsCached = 32;

/** Reports of busy deployments, which take seconds. New events appear within a minute. */
type CachedReports = {
  /** The report if it is young enough, and nothing was deleted or hidden since. */
  get: (db: Executor, tenant: Tenant, deploymentId: string, key: string) => Promise<InsightReport | null>;
  set: (key: string, report: InsightReport) => void;
};

export function createCachedReports(now: () => number = Date.now): CachedReports {
  const entries = new Map<string, { report: InsightReport; until: number }>();
  return {
    async get(db, tenant, deploymentId, key) {
      const entry = entries.get(key);
      if (!entry) return null;
      const isValid =
        now() < entry.until &&
        (await allowanceOfConversations(db, tenant)) === entry.report.quoted &&
        (await isMarkValid(db, tenant, deploymentId, entry.report.mark));
      if (isValid) return entry.report;
      // A newer report may have been stored meanwhile.
      if (entries.get(key) === entry) entries.delete(key);
      return null;
    },
    set(key, report) {
      if (report.mark.conversations < leastConversationsCached) return;
      entries.delete(key);
      entries.set(key, { report, until: now() + cachedMs });
      const [oldest] = entries.keys();
      if (entries.size > maxReportsCached && oldest !== undefined) entries.delete(oldest);
    },
  };
}
