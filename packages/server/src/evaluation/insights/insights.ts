import { fail } from '@vestra/contract/errors';
import { insightKinds, maxInsightDays } from '@vestra/contract/insights';
import type { Embeddings } from '../../agents/index.ts';
import { shownExcerpt } from '../../engine/activity/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { type Nearness, nearnessOf } from './cause-clusters.ts';
import type { InsightFact, InsightKind } from './insight-fact.ts';
import { groupFacts, type InsightGroup } from './insight-groups.ts';
import { readFacts } from './read-facts.ts';

const dayMs = 86_400_000;
const defaultDays = 7;
const maxExamples = 5;
const maxExcerpt = 160;

/** The days of a report, in UTC, both inclusive. */
export type InsightWindow = { from: string; to: string };

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

export type Insight = InsightGroup & { current: InsightFact[]; conversations: number };

export type InsightReport = {
  insights: Insight[];
  totalConversations: number;
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
  const { facts, conversations, isComplete, isPreviousComplete } = await readFacts(db, tenant, deploymentId, {
    period,
    kinds,
  });
  const groups = groupFacts(deploymentId, facts, await nearnessOfKinds(embeddings, facts, signal));
  const insights = groups.flatMap((group) => {
    const current = group.facts.filter(({ at }) => at.getTime() >= middle);
    if (current.length === 0) return [];
    return [{ ...group, current, conversations: new Set(current.map((fact) => fact.conversationId)).size }];
  });
  return {
    insights: insights.sort((a, b) => b.conversations - a.conversations || (a.id < b.id ? -1 : 1)),
    totalConversations: conversations.filter(({ turns }) => turns > 0).length,
    isComplete,
    isPreviousComplete,
  };
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

export function presentInsight(insight: Insight, window: InsightWindow, report: InsightReport) {
  const { totalConversations, isPreviousComplete } = report;
  const { id, kind, title, cause, current, conversations, facts } = insight;
  const byDay = Map.groupBy(current, ({ at }) => dateOf(at));
  const days = Array.from({ length: daysIn(window) }, (_, at) => dateOf(new Date(startOf(window.from) + at * dayMs)));
  return {
    object: 'insight' as const,
    id,
    kind,
    title: shownExcerpt(title, maxExcerpt),
    cause: shownExcerpt(cause, maxExcerpt),
    count: current.length,
    conversations,
    share: totalConversations === 0 ? 0 : Math.min(1, Math.round((conversations / totalConversations) * 1000) / 1000),
    trend: {
      previous_count: isPreviousComplete ? facts.length - current.length : null,
      days: days.map((date) => ({ date, count: byDay.get(date)?.length ?? 0 })),
    },
    examples: examplesOf(current).map(presentExample),
  };
}

/** The newest of each conversation. */
function examplesOf(facts: readonly InsightFact[]): InsightFact[] {
  const byConversation = Map.groupBy(facts, ({ conversationId }) => conversationId);
  return [...byConversation.values()].flatMap(([newest]) => newest ?? []).slice(0, maxExamples);
}

const presentExample = ({ conversationId, turnId, taskId, at, excerpt }: InsightFact) => ({
  conversation_id: conversationId,
  turn_id: turnId,
  task_id: taskId,
  at: at.toISOString(),
  excerpt: shownExcerpt(excerpt, maxExcerpt) || null,
});
