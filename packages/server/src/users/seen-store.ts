import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import { maybeOne } from '../platform/db/query.ts';
import type { RowCache, SeenRow } from '../platform/db/row-cache.ts';
import { sql } from '../platform/db/sql.ts';
import { columnsOf, text } from '../platform/db/table.ts';
import { type UserRow, users } from './tables.ts';

const shape = { ...users.columns, version: text() };

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
    sql`SELECT ${columnsOf(users)}, xmin::text AS version FROM ${users} WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${id}`,
  );
  if (!found) return undefined;
  const { version, ...row } = found;
  seen.set(key, { row, version });
  return { row, version };
}

export const forgetUser = (seen: RowCache<UserRow>, { org_id, mode, id }: Pick<UserRow, 'org_id' | 'mode' | 'id'>) =>
  seen.forget(JSON.stringify([org_id, mode, id]));

/** Whether nobody has changed the user since it was seen. */
export const userIsStill = ({ row, version }: SeenRow<UserRow>) => sql`EXISTS (SELECT FROM ${users}
  WHERE org_id = ${row.org_id} AND mode = ${row.mode} AND id = ${row.id} AND xmin = ${version}::xid)`;
