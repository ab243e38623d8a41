export { answerOfTalk, findAnswer, insertAnswer, latestAnswerTo, noteTalk } from './deferred-answers.ts';
export type { ClientAnswer } from './tables.ts';
