import { findOrg, recordAudit } from '../../account/index.ts';
import { operatorOrigin } from '../../platform/caller.ts';
import { quoted, withSession } from '../../platform/db/dump.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Operator } from '../operator.ts';
import { keyScope } from './freeze.ts';
import { isHandOver, signHandOver } from './keys.ts';
import { deleteMove, lockMove, type OrgMove, putMove, setStatus } from './moves.ts';
import { type RemoveReport, removeOrg } from './remove.ts';
import { forOrg, movedTables } from './tables.ts';

const audit = (tx: Executor, orgId: string, action: string, details: Record<string, unknown>) =>
  recordAudit(tx, operatorOrigin({ orgId, mode: 'live' }), { action, target: { type: 'org', id: orgId }, details });

/**
 * Hands a frozen org over to one import. From then on it never runs here again. The code is signed for the receipt of
 * that import, so that no second copy can be activated.
 */
export async function handOver(
  operator: Operator,
  orgId: string,
  receipt: string,
): Promise<{ org_id: string; code: string }> {
  if (!/^receipt_[0-9a-f]{36}$/.test(receipt)) {
    throw new StartFailure('--receipt is what vestra admin org import has printed: receipt_ and 36 characters.');
  }
  const move = await transaction(operator.db, (tx) => lockMove(tx, orgId));
  if (move?.state === 'leaving') await assertNothingNewer(operator, orgId, move);
  return transaction(operator.db, async (tx) => {
    const locked = await lockMove(tx, orgId);
    const isOpen = locked?.state === 'leaving' && locked.move_id === move?.move_id && locked.snapshot !== null;
    if (!locked || (!isOpen && locked.state !== 'left')) {
      throw new StartFailure(`${orgId} has no complete export: run vestra admin org export first.`);
    }
    if (locked.state === 'left' && locked.receipt !== receipt) {
      throw new StartFailure(
        `${orgId} was handed over to another import already: it can run in one installation only.`,
      );
    }
    const { wrapped_data_key: wrapped } = await findOrg(tx, orgId);
    const scope = keyScope(orgId, locked.move_id);
    const signingKey = operator.vault.open({ orgId, wrapped }, locked.sealed_signing_key as Buffer, scope);
    if (isOpen) {
      await putMove(tx, { ...locked, state: 'left', receipt });
      await setStatus(tx, orgId, 'moved');
      await audit(tx, orgId, 'org.handed_over', { move_id: locked.move_id, receipt });
    }
    return { org_id: orgId, code: signHandOver(signingKey, { orgId, moveId: locked.move_id, receipt }) };
  });
}

/**
 * Refuses a hand-over if a row of the org was written after the snapshot of the export, such as by a sign-in that was
 * under way. That row is not in the archive.
 */
async function assertNothingNewer({ connectionString }: Operator, orgId: string, { snapshot }: OrgMove): Promise<void> {
  if (snapshot === null) return;
  const newer = await withSession(connectionString, async (client) => {
    const found: string[] = [];
    const { rows } = await client.query<{ now: string; first: string }>(
      'SELECT pg_current_xact_id()::text AS now, pg_snapshot_xmin($1::pg_snapshot)::text AS first',
      [snapshot],
    );
    const { now, first } = rows[0] as { now: string; first: string };
    for (const [name, { rows: condition, late = 'false' }] of Object.entries(movedTables)) {
      // The status of the org itself changed with the freeze, before the snapshot.
      const statement = `SELECT FROM ${quoted(name)} AS t
        WHERE ${condition} AND NOT (${late}) AND ${writtenAfter('$snapshot', now, first)} LIMIT 1`;
      const { rowCount } = await client.query(forOrg(statement, orgId).replace('$snapshot', () => `'${snapshot}'`));
      if (rowCount) found.push(name);
    }
    return found;
  });
  if (newer.length === 0) return;
  throw new StartFailure(
    `Something was written after the export (${newer.join(', ')}): the archive lacks it. Export ${orgId} again.`,
  );
}

/**
 * `xmin` of a row is a transaction number of 32 bits. Its age counts from now, so rows that are older than the snapshot's
 * oldest transaction need no comparison, and a number that was reused is not mistaken.
 */
const writtenAfter = (snapshot: string, now: string, first: string): string =>
  `age(t.xmin) BETWEEN 0 AND age('${BigInt(first) % 2n ** 32n}'::xid)
    AND NOT pg_visible_in_snapshot((${now} - age(t.xmin)
      + (age('${BigInt(now) % 2n ** 32n}'::xid)))::text::xid8, ${snapshot}::pg_snapshot)`;

/** Activates an imported org with the code of its hand-over. */
export async function activate(
  { db }: Operator,
  orgId: string,
  code: string,
): Promise<{ org_id: string; was_active: boolean }> {
  return transaction(db, async (tx) => {
    const move = await lockMove(tx, orgId);
    if (move?.state === 'arrived') return { org_id: orgId, was_active: true };
    if (move?.state !== 'arriving') throw new StartFailure(`${orgId} was not imported here.`);
    const { verify_key, receipt, move_id: moveId } = move;
    if (!isHandOver(verify_key as Buffer, { orgId, moveId, receipt: receipt as string }, code)) {
      throw new StartFailure(
        `This is not the code of the hand-over to this import: run vestra admin org hand-over ${orgId} --receipt ${receipt} in the other installation.`,
      );
    }
    await putMove(tx, { ...move, state: 'arrived' });
    await setStatus(tx, orgId, 'active');
    await audit(tx, orgId, 'org.activated', { move_id: moveId });
    return { org_id: orgId, was_active: false };
  });
}

export type ReleaseReport = { org_id: string; released: 'frozen' | 'copy'; removed: RemoveReport | null };

/** Undoes an export where the org leaves, or an import where it arrives. */
export async function release(operator: Operator, orgId: string): Promise<ReleaseReport> {
  const state = await transaction(operator.db, async (tx) => {
    const move = await lockMove(tx, orgId);
    if (move?.state === 'left') {
      throw new StartFailure(`${orgId} was handed over and may run in the other installation: it stays moved here.`);
    }
    if (move?.state === 'leaving') {
      await deleteMove(tx, orgId);
      await setStatus(tx, orgId, 'active');
      await audit(tx, orgId, 'org.released', { move_id: move.move_id });
    }
    return move?.state;
  });
  if (state === 'leaving') return { org_id: orgId, released: 'frozen', removed: null };
  if (state === 'arriving') return { org_id: orgId, released: 'copy', removed: await removeOrg(operator, orgId) };
  throw new StartFailure(`${orgId} is not frozen and was not imported: there is nothing to release.`);
}
