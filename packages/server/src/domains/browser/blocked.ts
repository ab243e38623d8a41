import type { ClosedPage } from '../../adapters/browser/rules.ts';
import type { Origin } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';

/** Written down without the query, which may hold what nobody else is to read. */
export async function recordBlocked(
  db: Executor,
  origin: Origin,
  userId: string | null,
  { host, path }: ClosedPage,
): Promise<void> {
  await recordAudit(db, origin, {
    action: 'browser.page_blocked',
    ...(userId !== null && { target: { type: 'user', id: userId } }),
    details: { host, path },
  });
}
