import { and, desc, eq, lt } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { type EventRow, events } from './tables.ts';

const ofTenant = ({ orgId, mode }: Tenant) => and(eq(events.org_id, orgId), eq(events.mode, mode));

export function listEvents(
  db: Executor,
  tenant: Tenant,
  { type }: { type: EventRow['type'] | undefined },
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<EventRow[]> {
  return db
    .select()
    .from(events)
    .where(
      and(
        ofTenant(tenant),
        type ? eq(events.type, type) : undefined,
        after ? lt(events.id, after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(events.id))
    .limit(limit + 1);
}

export async function findEvent(db: Executor, tenant: Tenant, eventId: string): Promise<EventRow | undefined> {
  const [row] = await db
    .select()
    .from(events)
    .where(and(ofTenant(tenant), eq(events.id, eventId)));
  return row;
}
