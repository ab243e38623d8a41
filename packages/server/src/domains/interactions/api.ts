export { answerInteraction, assertAsked, ownInteraction, takeAnswer } from './settle.ts';
