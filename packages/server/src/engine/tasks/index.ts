export { countTasks, findTask } from '../records/tasks.ts';
export { stopOneTask } from './stop-one.ts';
