export { answerOfTalk, findAnswer, insertAnswer, latestAnswerTo, noteTalk } from './deferred-answers/store.ts';
export type { ClientAnswer } from './deferred-answers/tables.ts';
