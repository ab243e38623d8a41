import type pg from 'pg';
import { removeComputerFolders } from '../../computers/index.ts';
import { quoted, withSession } from '../../platform/db/dump.ts';
import { send } from '../../platform/db/pipeline.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import { withFiles } from '../../platform/files/open-files.ts';
import type { Operator } from '../operator.ts';
import { deleteMove, lockMove } from './moves.ts';
import { forOrg, movedTables } from './tables.ts';

export type RemoveReport = { org_id: string; rows: number; files: number };

/**
 * Deletes an org that was handed over, or a copy that was never active. Rows go first: without them nobody finds the
 * files, and a repeated command deletes the rest.
 */
export async function removeOrg(operator: Operator, orgId: string): Promise<RemoveReport> {
  const { rows, numbers } = await withSession(operator.connectionString, async (client) => {
    await client.query('BEGIN');
    const move = await lockMove({ send: (statements) => send(client, statements) }, orgId);
    const { rowCount } = await client.query('SELECT FROM orgs WHERE id = $1', [orgId]);
    if (rowCount !== 0 && move?.state !== 'left' && move?.state !== 'arriving') {
      throw new StartFailure(`${orgId} was not handed over to another installation: nothing was removed.`);
    }
    const computers = await client.query<{ number: string }>('SELECT number FROM computers WHERE org_id = $1', [orgId]);
    const removed = await removeRows(client, orgId);
    await deleteMove({ send: (statements) => send(client, statements) }, orgId);
    await client.query('COMMIT');
    return { rows: removed, numbers: computers.rows.map(({ number }) => Number(number)) };
  });
  for (const number of numbers) await removeComputerFolders(operator.config.dataDir, number);
  return { org_id: orgId, rows, files: await withFiles(operator.config, (store) => removeFiles(store, orgId)) };
}

/** Deletes the rows of the org, and logins that open no other org. Returns how many rows. */
export async function removeRows(client: pg.Client, orgId: string): Promise<number> {
  let count = 0;
  const run = async (statement: string) => {
    count += (await client.query(forOrg(statement, orgId))).rowCount ?? 0;
  };
  await client.query(
    `CREATE TEMP TABLE left_logins ON COMMIT DROP AS
      SELECT coalesce(login, CASE WHEN opened_by <> 'identity' THEN email END) AS key FROM members WHERE org_id = $1`,
    [orgId],
  );
  await run(`DELETE FROM jobs WHERE share LIKE $org || ' %'`);
  await run('DELETE FROM unused_contents WHERE org_id = $org');
  if ((await client.query(`SELECT FROM pg_class WHERE oid = to_regclass('document_window_vectors')`)).rowCount) {
    await run(
      'DELETE FROM document_window_vectors WHERE document_id IN (SELECT id FROM documents WHERE org_id = $org)',
    );
  }
  for (const [name, { rows, isShared }] of Object.entries(movedTables).reverse()) {
    if (!isShared && name !== 'logins') await run(`DELETE FROM ${quoted(name)} WHERE ${rows}`);
  }
  await run(
    `DELETE FROM logins WHERE email IN (SELECT key FROM left_logins) AND NOT EXISTS (
      SELECT FROM members m WHERE m.login = logins.email
        OR m.login IS NULL AND m.opened_by <> 'identity' AND m.email = logins.email)`,
  );
  await client.query('DROP TABLE left_logins');
  return count;
}

async function removeFiles(store: FileStore, orgId: string): Promise<number> {
  let count = 0;
  for await (const each of store.list()) {
    if (each.orgId !== orgId) continue;
    await store.remove(orgId, each.name);
    count += 1;
  }
  return count;
}
