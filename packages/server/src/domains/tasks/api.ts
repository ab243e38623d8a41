export { countTasks, findTask } from '../engine/records/tasks.ts';
export { stopOneTask } from './stop-one.ts';
