export { createAnswerSeal } from './seal.ts';
