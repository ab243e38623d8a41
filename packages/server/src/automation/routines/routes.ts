import { fail } from '@vestra/contract/errors';
import { findSettings } from '../../account/index.ts';
import { announce, type CommittedChange, type Engine } from '../../engine/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { presentRoutine } from './routine.ts';
import { changeRoutine, createRoutine, removeRoutine } from './routine-changes.ts';
import { type RoutineRunner, runNow, triggerRoutine } from './runs.ts';
import { findRoutine, listRoutines } from './store.ts';
import type { RoutineRow } from './tables.ts';

type RoutineDependencies = Pick<Engine, 'announcer'> & { db: Database; publicUrl: string };

export function routineRoutes({ db, publicUrl, announcer }: RoutineDependencies): Handlers<'routines'> {
  const present = (row: RoutineRow) => presentRoutine(row, { publicUrl });
  return {
    list: async ({ caller, query, page }) => {
      const userId = query.user_id ?? null;
      if (userId === null && (await findSettings(db, caller)).require_user) {
        throw fail('user_required', { param: 'user_id' });
      }
      return page.of(await listRoutines(db, caller, userId, page), present, (row) => [row.id]);
    },
    create: async ({ origin, body, commit }) => {
      // Set by the request that creates the routine. An idempotent repeat must not announce again.
      let opened: CommittedChange | null = null;
      const answer = await commit(async (tx) => {
        const created = await createRoutine(tx, origin, body);
        opened = created.opened;
        return present(created.routine);
      });
      if (opened) announce(announcer, opened);
      return answer;
    },
    get: async ({ caller, params }) => {
      const row = await findRoutine(db, caller, params.routine_id);
      if (!row) throw fail('routine_not_found');
      return present(row);
    },
    update: async ({ origin, params, body }) => {
      const { routine, opened } = await transaction(db, (tx) => changeRoutine(tx, origin, params.routine_id, body));
      if (opened) announce(announcer, opened);
      return present(routine);
    },
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => removeRoutine(tx, origin, params.routine_id));
      return { object: 'routine', id: params.routine_id, deleted: true };
    },
  };
}

export function routineRunRoutes(runner: RoutineRunner): Pick<Handlers<'routines'>, 'run' | 'trigger'> {
  return {
    run: async ({ caller, params }) => runNow(runner, caller, params.routine_id),
    trigger: async ({ caller, params, body }) => triggerRoutine(runner, caller, params.routine_id, body ?? {}),
  };
}
