import { fail } from '@vestra/contract/errors';
import { microsToExactUsd, microsToUsd } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { sharedDate } from '../platform/db/clock.ts';
import type { Database, Executor } from '../platform/db/pool.ts';
import { rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { columnsOf, type RowOf } from '../platform/db/table.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { costOf } from './cost.ts';
import { ledgerEntries } from './tables.ts';
import { sumUsage, type UsageGroup, type UsageQuery, type UsageRow, type UsageSums } from './usage-sums.ts';

type UsageDependencies = {
  db: Database;
  /** Finds the id of a deployment by its name or slug. If absent, requests must name deployments by id. */
  deploymentIdOf?: (tenant: Tenant, reference: string) => Promise<string | null>;
  /** The names of deployments, for the labels of their rows. If absent, rows have no labels. */
  deploymentNames?: (tenant: Tenant, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Whether a task or conversation without charges exists. If absent, the server answers that it does not. */
  exists?: (tenant: Tenant, work: ChargedSubject) => Promise<boolean>;
};

export function usageRoutes({ db, deploymentIdOf, deploymentNames, exists }: UsageDependencies): Handlers<'usage'> {
  return {
    report: async ({ caller, query, page }) => {
      const reference = query.deployment_id;
      // The ledger still has the id of a deleted deployment.
      const resolved = reference && deploymentIdOf ? await deploymentIdOf(caller, reference) : null;
      const request = {
        groupBy: query.group_by,
        from: query.from,
        to: query.to,
        userId: query.user_id,
        deploymentId: resolved ?? reference,
        conversationId: query.conversation_id,
      };
      const { rows, total, sortKey } = await reportUsage(db, caller, request, page);
      const isByDeployment = query.group_by === 'deployment';
      const names =
        isByDeployment &&
        (await deploymentNames?.(
          caller,
          rows.map(({ key }) => key),
        ));
      const list = page.of(rows, (row) => presentUsageRow(query.group_by, row, names || undefined), sortKey);
      return { ...list, total: presentSums(total) };
    },
    lineItems: async ({ caller, query, page }) => {
      const work = chargedSubjectOf(query);
      const rows = await listLineItems(db, caller, work, page);
      if (rows.length === 0 && !page.after && !(await exists?.(caller, work))) {
        throw fail('taskId' in work ? 'task_not_found' : 'conversation_not_found');
      }
      const { totalMicros } = await costOf(db, work);
      return {
        ...page.of(rows, presentLineItem, (row) => [row.id]),
        total: { cost_usd: microsToExactUsd(totalMicros) },
      };
    },
  };
}

/** Dates in UTC, both inclusive. */
type Window = { from: string; to: string };

type UsageRequest = {
  groupBy: UsageGroup;
  from?: string | undefined;
  to?: string | undefined;
} & Pick<UsageQuery, 'userId' | 'deploymentId' | 'conversationId'>;

type UsageReport = {
  rows: UsageRow[];
  total: UsageSums;
  /** The position of a row in this report, for the cursor to the next page. */
  sortKey: (row: UsageRow) => readonly string[];
};

/** Reports the spend in a window, grouped by one dimension. Groups without spend have no row. */
async function reportUsage(
  db: Executor,
  tenant: Tenant,
  request: UsageRequest,
  page: { limit: number; after: readonly string[] | null },
): Promise<UsageReport> {
  const { groupBy, userId, deploymentId, conversationId } = request;
  const window = page.after ? windowOfCursor(request, page.after) : usageWindow(request, sharedDate());
  // PostgreSQL has no year 0, and nothing was spent in year 1.
  const [from, to] = [window.from, window.to].map((date) => (date < firstDate ? firstDate : date)) as [string, string];
  const query = { groupBy, from, to, userId, deploymentId, conversationId };
  const { rows, total } = await sumUsage(db, tenant, query, { limit: page.limit, after: readPosition(page.after) });
  return { rows, total, sortKey: (row) => [groupBy, window.from, window.to, String(row.costMicros), row.key] };
}

const firstDate = '0001-01-01';
const maxDays = 366;
const defaultDays = 30;
const dayMs = 86_400_000;

/** Without `to` the window ends today. Without `from` it has thirty days. */
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
  if (days > maxDays) {
    throw fail('invalid_window', {
      param: 'from',
      message: `The window has ${days} days; at most ${maxDays} are reported at once.`,
    });
  }
  return { from: first, to: last };
}

/** Later pages use the window of the first page, even if the default window has changed at midnight. */
function windowOfCursor(request: UsageRequest, after: readonly string[]): Window {
  const [groupBy, from, to] = after as [string, string, string];
  const isSame = groupBy === request.groupBy && (request.from ?? from) === from && (request.to ?? to) === to;
  if (!isSame) throw fail('invalid_cursor', { param: 'cursor', message: 'This cursor belongs to another report.' });
  return { from, to };
}

function readPosition(after: readonly string[] | null): Pick<UsageRow, 'key' | 'costMicros'> | null {
  if (!after) return null;
  const [, , , cost, key] = after as [string, string, string, string, string];
  return { costMicros: BigInt(cost), key };
}

const startOf = (date: string) => new Date(`${date}T00:00:00.000Z`);
const endOf = (date: string) => new Date(startOf(date).getTime() + dayMs);
const dateOf = (moment: Date) => moment.toISOString().slice(0, 10);

type LineItemRow = RowOf<typeof ledgerEntries>;

/** Returns one row more than the limit, so that the caller knows whether another page follows. */
function listLineItems(
  db: Executor,
  { orgId, mode }: Tenant,
  of: { taskId: string } | { conversationId: string },
  page: { limit: number; after: readonly string[] | null },
): Promise<LineItemRow[]> {
  const conditions = sql.and(
    sql`account = 'spend'`,
    'taskId' in of ? sql`task_id = ${of.taskId}` : sql`conversation_id = ${of.conversationId}`,
    sql`org_id = ${orgId} AND mode = ${mode}`,
    page.after && sql`id < ${page.after[0] as string}`,
  );
  return rowsOf(
    db,
    ledgerEntries,
    sql`SELECT ${columnsOf(ledgerEntries)} FROM ${ledgerEntries} WHERE ${conditions}
        ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** The task or conversation whose charges a request lists. */
type ChargedSubject = { taskId: string } | { conversationId: string };

function chargedSubjectOf(query: {
  task_id?: string | undefined;
  conversation_id?: string | undefined;
}): ChargedSubject {
  const { task_id: taskId, conversation_id: conversationId } = query;
  if (taskId !== undefined && conversationId !== undefined) {
    throw fail('invalid_request', {
      param: 'conversation_id',
      message: 'Give `task_id` or `conversation_id`, not both.',
    });
  }
  if (taskId !== undefined) return { taskId };
  if (conversationId !== undefined) return { conversationId };
  throw fail('invalid_request', { param: 'task_id', message: 'Give `task_id` or `conversation_id`.' });
}

const presentUsageRow = (groupBy: UsageGroup, row: UsageRow, names?: ReadonlyMap<string, string>) => ({
  object: 'usage_row' as const,
  key: row.key,
  label: row.key === '' ? labelsOfNone[groupBy] : (names?.get(row.key) ?? null),
  ...presentSums(row),
});

const presentSums = (sums: UsageSums) => ({
  cost_usd: microsToUsd(sums.costMicros),
  task_count: sums.taskCount,
  input_tokens: sums.inputTokens,
  output_tokens: sums.outputTokens,
});

const labelsOfNone: Record<UsageGroup, string | null> = {
  day: null,
  user: 'The org’s own agent',
  deployment: 'No deployment',
  conversation: 'No conversation',
  task: 'No task',
  model: 'No model',
  kind: null,
};

/** A constraint of the table ensures that a `spend` row has no null in the columns of a charge. */
const presentLineItem = (row: LineItemRow) => ({
  object: 'line_item' as const,
  id: row.id,
  kind: row.kind as NonNullable<LineItemRow['kind']>,
  model: row.model,
  quantity: Number(row.quantity),
  unit: row.unit as string,
  // Parse as a decimal: dividing by a million would add a floating-point error.
  unit_price_usd: Number(`${row.unit_price_micros}e-6`),
  cost_usd: microsToExactUsd(row.amount_micros),
  ...(row.is_estimated && { estimated: true as const }),
  task_id: row.task_id,
  conversation_id: row.conversation_id,
  created_at: row.created_at.toISOString(),
});
