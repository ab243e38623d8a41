import { and, eq } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { sessions } from './tables.ts';

export async function removeSessionsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await tx
    .delete(sessions)
    .where(and(eq(sessions.org_id, tenant.orgId), eq(sessions.mode, tenant.mode), eq(sessions.user_id, userId)));
}
