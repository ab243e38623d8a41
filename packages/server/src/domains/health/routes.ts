import type { Database } from '../../db/pool.ts';
import { run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';
import { type Handlers, Reply } from '../../http/handler.ts';

/** Up means that a request which needs the database would be answered. */
export function healthRoutes({ db, version }: { db: Database; version: string }): Handlers<'health'> {
  return {
    get: async () => {
      const isUp = await run(db, sql`SELECT 1`).then(
        () => true,
        () => false,
      );
      const status = isUp ? ('ok' as const) : ('failing' as const);
      const database = { status, message: isUp ? null : 'The database does not answer.' };
      return new Reply(
        { object: 'health' as const, status, version, checks: { database } },
        { status: isUp ? 200 : 503 },
      );
    },
  };
}
