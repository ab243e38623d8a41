export { answerOfTalk, findAnswer, insertAnswer, latestAnswerTo, noteTalk } from './store.ts';
export type { OpenaiAnswer } from './tables.ts';
