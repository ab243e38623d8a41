export { answerInteraction, ownInteraction, takeAnswer } from './settle.ts';
