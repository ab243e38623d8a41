export { stopOneTask } from './stop-one.ts';
export { countTasks } from './store.ts';
