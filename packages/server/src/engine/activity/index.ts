export {
  type ActiveConversation,
  activeConversations,
  type InteractionActivity,
  interactionsWithoutConsent,
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
export { shownExcerpt } from './shown-excerpt.ts';
