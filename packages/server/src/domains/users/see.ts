import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import { maybeOne } from '../../db/query.ts';
import type { RowCache, SeenRow } from '../../db/row-cache.ts';
import { sql } from '../../db/sql.ts';
import { boolean, jsonb, micros, moment, text } from '../../db/table.ts';
import type { UserRow } from './tables.ts';

const shape = {
  org_id: text(),
  mode: text<UserRow['mode']>(),
  id: text(),
  name: text().nullable(),
  email: text().nullable(),
  locale: text().nullable(),
  timezone: text().nullable(),
  metadata: jsonb<UserRow['metadata']>(),
  status: text<UserRow['status']>(),
  daily_cap_micros: micros().nullable(),
  monthly_cap_micros: micros().nullable(),
  default_deployment: text().nullable(),
  is_service_user: boolean(),
  erasing_since: moment().nullable(),
  created_at: moment(),
  version: text(),
};

/** The user as it was seen last, or is now. Whoever decides by it lets the write check its version (`userIsStill`). */
export async function seeUser(
  { db, seen }: { db: Database; seen: RowCache<UserRow> },
  { orgId, mode }: Tenant,
  id: string,
): Promise<SeenRow<UserRow> | undefined> {
  const key = JSON.stringify([orgId, mode, id]);
  const known = seen.get(key);
  if (known) return known;
  const found = await maybeOne(
    db,
    shape,
    sql`SELECT *, xmin::text AS version FROM users WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${id}`,
  );
  if (!found) return undefined;
  const { version, ...row } = found;
  seen.set(key, { row, version });
  return { row, version };
}

export const forgetUser = (seen: RowCache<UserRow>, { org_id, mode, id }: Pick<UserRow, 'org_id' | 'mode' | 'id'>) =>
  seen.forget(JSON.stringify([org_id, mode, id]));

/** Whether nobody has changed the user since it was seen. */
export const userIsStill = ({ row, version }: SeenRow<UserRow>) => sql`EXISTS (SELECT FROM users
  WHERE org_id = ${row.org_id} AND mode = ${row.mode} AND id = ${row.id} AND xmin = ${version}::xid)`;
