/** Conversations from which on a median is compared. */
const leastConversations = 20;
/** How many times the median a value must exceed. */
export const timesMedian = 3;

/** The rows whose value is above three times the median of the current rows. None if there are too few, or it is 0. */
export function outliersOf<Row extends { id: string }>(
  rows: readonly Row[],
  isCurrent: ReadonlySet<string>,
  measure: (row: Row) => number,
): { row: Row; value: number; times: number }[] {
  const median = medianOf(rows.filter(({ id }) => isCurrent.has(id)).map(measure));
  if (isCurrent.size < leastConversations || median === 0) return [];
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
