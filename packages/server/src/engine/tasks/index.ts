export { presentOutcome } from '../records/present.ts';
export { countTasks, findTask } from '../records/tasks.ts';
export { stopOneTask } from '../turns/stop.ts';
