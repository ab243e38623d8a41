export { replaceFileManaged } from './replace-file-managed.ts';
export { readSchedule } from './schedule.ts';
export { deleteRoutinesOf } from './store.ts';
