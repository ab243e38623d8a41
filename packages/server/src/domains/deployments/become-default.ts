import type { Mode } from '@vestra/contract/route';
import type { Transaction } from '../../db/pool.ts';
import { rowsOf } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';
import { text } from '../../db/table.ts';
import { orgSettings } from '../orgs/api.ts';
import type { DeploymentRow } from './tables.ts';

/** A version that goes live has a draft for test keys to run; one that test keys run may not be live. */
const modesReached: Readonly<Record<Mode, Mode[]>> = { test: ['test'], live: ['test', 'live'] };

/**
 * Makes the deployment the org's default where it has none, and says whether it did so in the mode of the promotion. Of
 * two first promotions at once the second waits for the first and then finds a default.
 */
export async function becomeDefault(tx: Transaction, { id, org_id }: DeploymentRow, mode: Mode): Promise<boolean> {
  const changed = await rowsOf(
    tx,
    { mode: text<Mode>() },
    sql`UPDATE ${orgSettings} SET default_deployment = ${id}
        WHERE org_id = ${org_id} AND mode = ANY(${modesReached[mode]}) AND default_deployment IS NULL
        RETURNING mode`,
  );
  return changed.some((row) => row.mode === mode);
}
