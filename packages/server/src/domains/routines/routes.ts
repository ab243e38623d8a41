import { fail } from '@vestra/contract/errors';
import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { Handlers } from '../../http/handler.ts';
import { findSettings } from '../orgs/api.ts';
import { createRoutine } from './create.ts';
import type { RoutinePorts } from './ports.ts';
import { presentRoutine } from './present.ts';
import { removeRoutine } from './remove.ts';
import { findRoutine, listRoutines } from './store.ts';
import type { RoutineRow } from './tables.ts';
import { changeRoutine } from './update.ts';

type RoutineDependencies = RoutinePorts & { db: Database; publicUrl: string };

export function routineRoutes({ db, publicUrl, ...ports }: RoutineDependencies): Handlers<'routines'> {
  const present = (row: RoutineRow) => presentRoutine(row, { publicUrl });
  return {
    list: async ({ caller, query, page }) => {
      const userId = query.user_id ?? null;
      if (userId === null && (await findSettings(db, caller)).require_user) {
        throw fail('user_required', { param: 'user_id' });
      }
      return page.of(await listRoutines(db, caller, userId, page), present, (row) => [row.id]);
    },
    create: async ({ origin, body, commit }) =>
      commit(async (tx) => present(await createRoutine(tx, { origin, ports }, body))),
    get: async ({ caller, params }) => {
      const row = await findRoutine(db, caller, params.routine_id);
      if (!row) throw fail('routine_not_found');
      return present(row);
    },
    update: async ({ origin, params, body }) =>
      present(await transaction(db, (tx) => changeRoutine(tx, { origin, ports }, params.routine_id, body))),
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => removeRoutine(tx, origin, params.routine_id));
      return { object: 'routine', id: params.routine_id, deleted: true };
    },
  };
}
