export { shownExcerpt } from '../records/trace-content.ts';
export {
  type ActiveConversation,
  activeConversations,
  type ConversationsMark,
  type InteractionActivity,
  interactionsWithoutConsent,
  isMarkValid,
  markConversations,
  turnsThatFailed,
} from './conversation-activity.ts';
export {
  type CallActivity,
  callsWithoutResult,
  mostCalledTools,
  questionsOfAnswers,
  type UserMessage,
  userMessages,
} from './message-activity.ts';
