import type { Transaction } from '../../platform/db/pool.ts';
import type { LoggedSource } from './source.ts';

/** MCP clients that members have let in. */
export type LetIn = {
  /** Shuts out all that these have let in; answers whom. */
  endAll: (tx: Transaction, memberIds: readonly string[], source: LoggedSource) => Promise<string[]>;
  /** To be told once that has happened. */
  ended: (grantId: string) => void;
};
