import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../platform/caller.ts';
import { sharedDate } from '../platform/db/clock.ts';
import type { Executor } from '../platform/db/pool.ts';
import { sumUsage, type UsageGroup, type UsageQuery, type UsageRow, type UsageSums } from './usage-store.ts';

/** Dates in UTC, both inclusive. */
export type Window = { from: string; to: string };

export type UsageRequest = {
  groupBy: UsageGroup;
  from?: string | undefined;
  to?: string | undefined;
} & Pick<UsageQuery, 'userId' | 'deploymentId' | 'conversationId'>;

export type UsageReport = {
  rows: UsageRow[];
  total: UsageSums;
  /** Where a row stands in this report, for the cursor to the next page. */
  sortKey: (row: UsageRow) => readonly string[];
};

/** What was spent in a window, by one dimension. Groups in which nothing was spent have no row. */
export async function reportUsage(
  db: Executor,
  tenant: Tenant,
  request: UsageRequest,
  page: { limit: number; after: readonly string[] | null },
): Promise<UsageReport> {
  const { groupBy, userId, deploymentId, conversationId } = request;
  const window = page.after ? windowOfCursor(request, page.after) : usageWindow(request, sharedDate());
  const query = { groupBy, start: startOf(window.from), end: endOf(window.to), userId, deploymentId, conversationId };
  const { rows, total } = await sumUsage(db, tenant, query, { limit: page.limit, after: readPlace(page.after) });
  return { rows, total, sortKey: (row) => [groupBy, window.from, window.to, String(row.costMicros), row.key] };
}

const longestDays = 366;
const defaultDays = 30;
const dayMs = 86_400_000;

/** Without `to` it ends today, without `from` it has thirty days. */
export function usageWindow({ from, to }: { from?: string | undefined; to?: string | undefined }, now: Date): Window {
  const last = to ?? dateOf(now);
  const first = from ?? dateOf(new Date(startOf(last).getTime() - (defaultDays - 1) * dayMs));
  if (startOf(first) > startOf(last)) {
    throw fail('invalid_window', {
      param: 'from',
      message: `The window begins on ${first}, after its end on ${last}.`,
    });
  }
  const days = (endOf(last).getTime() - startOf(first).getTime()) / dayMs;
  if (days > longestDays) {
    throw fail('invalid_window', {
      param: 'from',
      message: `The window has ${days} days; at most ${longestDays} are reported at once.`,
    });
  }
  return { from: first, to: last };
}

/** Later pages keep the window of the first, also when a default one would have moved on at midnight. */
function windowOfCursor(request: UsageRequest, after: readonly string[]): Window {
  const [groupBy, from, to] = after as [string, string, string];
  const isSame = groupBy === request.groupBy && (request.from ?? from) === from && (request.to ?? to) === to;
  if (!isSame) throw fail('invalid_cursor', { param: 'cursor', message: 'This cursor belongs to another report.' });
  return { from, to };
}

function readPlace(after: readonly string[] | null): Pick<UsageRow, 'key' | 'costMicros'> | null {
  if (!after) return null;
  const [, , , cost, key] = after as [string, string, string, string, string];
  return { costMicros: BigInt(cost), key };
}

const startOf = (date: string) => new Date(`${date}T00:00:00.000Z`);
const endOf = (date: string) => new Date(startOf(date).getTime() + dayMs);
const dateOf = (moment: Date) => moment.toISOString().slice(0, 10);
