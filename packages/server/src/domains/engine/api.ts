export { ask, forWaitingCaller, paidByOrg } from './questions/ask.ts';
export { judgeLine } from './questions/judge.ts';
export {
  announce,
  type Change,
  type Committed,
  changeConversation,
  changing,
  collectTold,
  insertConversation,
  lockOwnConversation,
  newConversationRow,
} from './records/change.ts';
export { findConversation, findConversationsWithCost, listConversations } from './records/conversations.ts';
export { eraseConversationsOf } from './records/erase.ts';
export {
  findFrame,
  findInteraction,
  listInteractions,
  pendingInteractions,
  pendingWithArguments,
} from './records/interactions.ts';
export { firstSeqOfTurn } from './records/log.ts';
export { lockForMessage } from './records/message-writes.ts';
export { allMessages, findMessage, isAttached, listMessages, placeOfMessage } from './records/messages.ts';
export {
  presentConversation,
  presentInteraction,
  presentLogEntry,
  presentMessage,
  presentTask,
  presentTurn,
} from './records/present.ts';
export { pruneTraces } from './records/prune-traces.ts';
export { readRunTrace } from './records/run-trace.ts';
export { type LinkTo, showTaskTrace, showTurnTrace } from './records/show-trace.ts';
export { storableJson, storableText } from './records/storable-text.ts';
export type {
  ConversationRow,
  InteractionRow,
  TaskRow,
  TurnRow,
} from './records/tables.ts';
export { countTasks, deleteTask, findTask, listTasks, openTasks } from './records/tasks.ts';
export { tellCallProgress } from './records/tell.ts';
export { deploymentsWithCalls, releaseCall, renewCall, type TakenCall, takeCalls } from './records/tool-calls.ts';
export { questionText, readTranscript, type Transcript } from './records/transcript.ts';
export { isOver } from './records/turn.ts';
export { findTurn, latestTurn } from './records/turns.ts';
export { usableModel } from './records/usable-model.ts';
export { manifestOf, versionOf } from './records/version-cache.ts';
export { createEngine } from './runs/create-engine.ts';
export { keepMemories } from './runs/keep-memory.ts';
export { computerRuns, meteringComputer } from './tools/computer-meter.ts';
export { type Admission, acceptMessage, admit, type NewMessage, readAttachments } from './turns/accept.ts';
export { type Answer, readAnswer } from './turns/answer.ts';
export { takeUpReply } from './turns/begin-reply.ts';
export { ignoreErased, takeUpTask } from './turns/begin-task.ts';
export { computerItem, mostOfComputer } from './turns/call-price.ts';
export { expireInteractions } from './turns/expire.ts';
export { bySeenRows, type PlannedConversation, planConversation, planMessage } from './turns/plain-message.ts';
export type { BatchItems, Engine, RoutineTools, WorkBrowsers, WorkComputer, WorkComputers } from './turns/ports.ts';
export { recordExchange } from './turns/record-exchange.ts';
export { createRunner } from './turns/runner.ts';
export { goOnWithTask, type Settlement, settleInteraction } from './turns/settle.ts';
export { settleConnects } from './turns/settle-connects.ts';
export { assertPayable } from './turns/spending.ts';
export { stopAll, stopTask } from './turns/stop.ts';
export { unfinishedReplies, unfinishedTasks } from './turns/sweep.ts';
