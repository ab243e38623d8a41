export { stopOneTask } from './stop-one.ts';
