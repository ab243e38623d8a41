export { shownExcerpt } from '../records/trace-content.ts';
export {
  type ActiveConversation,
  activeConversations,
  type CallActivity,
  type ConversationsMark,
  callsWithoutResult,
  type InteractionActivity,
  interactionsWithoutConsent,
  isMarkValid,
  markConversations,
  mostCalledTools,
  questionsOfAnswers,
  turnsThatFailed,
  type UserMessage,
  userMessages,
} from './conversation-activity.ts';
