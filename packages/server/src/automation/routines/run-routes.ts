import type { Handlers } from '../../platform/http/handler.ts';
import { runNow, triggerRoutine } from './run-by-call.ts';
import type { RoutineRunner } from './run-routine.ts';

export function routineRunRoutes(runner: RoutineRunner): Pick<Handlers<'routines'>, 'run' | 'trigger'> {
  return {
    run: async ({ caller, params }) => runNow(runner, caller, params.routine_id),
    trigger: async ({ caller, params, body }) => triggerRoutine(runner, caller, params.routine_id, body ?? {}),
  };
}
