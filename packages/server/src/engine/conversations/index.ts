export { eraseHiddenConversations, insertConversation } from '../records/conversation-log.ts';
export {
  findConversation,
  holdConversation,
  lockOwnConversation,
  newConversationRow,
  recentConversationsOf,
} from '../records/conversations.ts';
export {
  type Exchange,
  questionText,
  readExchanges,
  readTranscript,
  type Transcript,
  transcriptOf,
} from '../records/history-store.ts';
export { allMessages, conversationOfMessage, findMessage, messagesOfTurn } from '../records/messages.ts';
export { presentTurn } from '../records/present.ts';
export { callsOfRuns } from '../records/run-steps.ts';
export type { ConversationRow, RecordedCall, TurnRow } from '../records/tables.ts';
export { findTurn, isTurnOver, latestTurn } from '../records/turns.ts';
export { defaultDeployment, deploymentFor, newConversation, openConversation } from './create.ts';
export { sendMessage } from './message.ts';
