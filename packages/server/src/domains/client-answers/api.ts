export { answerOfTalk, findAnswer, insertAnswer, latestAnswerTo, noteTalk } from './store.ts';
export type { ClientAnswer } from './tables.ts';
