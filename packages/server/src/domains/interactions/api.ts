export { answerInteraction, takeAnswer } from './settle.ts';
