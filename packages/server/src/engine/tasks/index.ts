export { countTasks, findTask, unfinishedTaskIds } from '../records/tasks.ts';
export { stopOneTask } from '../turns/stop.ts';
