export { routineTools } from './agent-tools.ts';
export { moveRoutinesToTimezone } from './move-timezone.ts';
export { type FileRoutine, replaceFileRoutines } from './replace-file-managed.ts';
export { runDueRoutines } from './run-due.ts';
export { readSchedule } from './schedule.ts';
export { deleteRoutinesOf } from './store.ts';
