export { takeAnswer } from './settle.ts';
