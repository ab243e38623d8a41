export { presentOutcome } from '../records/present.ts';
export { countTasks, findTask, unfinishedTaskIds } from '../records/tasks.ts';
export { stopOneTask } from '../turns/stop.ts';
