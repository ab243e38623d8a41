import { sqlState } from './sql.ts';

const foreignKeyViolation = '23503';

type Violation = { constraint?: string; detail?: string };

/** A row that the statement refers to was deleted by another transaction. */
export const refersToMissingRow = (error: unknown): boolean =>
  // If a row is deleted that others still refer to, the server has a bug.
  sqlState(error) === foreignKeyViolation && !(error as Violation).detail?.includes('still referenced');

/** The row that a request is about was deleted by another request after it was read. */
export class MissingRow extends Error {
  override readonly name = 'MissingRow';
  readonly table: string;

  constructor(table: string) {
    super(`A row of ${table} was deleted meanwhile.`);
    this.table = table;
  }
}

/**
 * The table of the missing row, or the column that refers to it, such as `deployment_id`. PostgreSQL names a foreign key
 * after its table and columns.
 */
export function nameOfMissingRow(error: unknown): string | null {
  if (error instanceof MissingRow) return error.table;
  if (!refersToMissingRow(error)) return null;
  const words = ((error as Violation).constraint ?? '').split('_').slice(0, -1);
  return words.at(-1) === 'email' ? 'email' : words.slice(-2).join('_');
}
