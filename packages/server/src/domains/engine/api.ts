export { type Admission, acceptMessage, admit, type NewMessage, readAttachments } from './accept.ts';
export { type Answer, readAnswer } from './answer.ts';
export { type Asked, askForCaller, askPaid } from './ask-model.ts';
export { takeUpReply } from './begin-reply.ts';
export { ignoreErased, takeUpTask } from './begin-task.ts';
export { computerItem } from './call-price.ts';
export { announce, type Change, type Committed, changeConversation, changing, lockOwnConversation } from './change.ts';
export { cleanJson, cleanText } from './clean.ts';
export { computerRuns } from './computer-meter.ts';
export { settleConnects } from './connected.ts';
export { createEngine } from './create-engine.ts';
export { eraseConversationsOf } from './erase.ts';
export { expireInteractions } from './expire.ts';
export { judgeLine } from './judge.ts';
export { keepMemories } from './keep-memory.ts';
export { failed, type OwnTool, object, ownTool, said, type ToolAnswer, text } from './own-tools/own-tool.ts';
export { lockForMessage } from './plain-message.ts';
export type { BatchItems, Engine, RoutineTools, WorkBrowsers, WorkComputer, WorkComputers } from './ports.ts';
export {
  presentConversation,
  presentInteraction,
  presentLogEntry,
  presentMessage,
  presentTask,
  presentTurn,
} from './present.ts';
export { pruneTraces } from './prune-traces.ts';
export { recordExchange } from './record-exchange.ts';
export { readRunTrace } from './run-trace.ts';
export { createRunner } from './runner.ts';
export { goOnWithTask, type Settlement, settleInteraction } from './settle.ts';
export { assertPayable } from './spending.ts';
export { stopAll, stopTask } from './stop.ts';
export {
  allMessages,
  findConversation,
  findConversationsWithCost,
  findFrame,
  findInteraction,
  findTask,
  findTurn,
  firstSeqOfTurn,
  insertConversation,
  isAttached,
  latestTurn,
  listConversations,
  listMessages,
  openTasks,
  pendingInteractions,
  pendingWithArguments,
  placeOfMessage,
} from './store.ts';
export { unfinishedReplies, unfinishedTasks } from './sweep.ts';
export {
  type ConversationRow,
  type InteractionRow,
  interactions,
  type StepRow,
  type TaskRow,
  type TurnRow,
  tasks,
  turns,
} from './tables.ts';
export { presentTraceStep } from './trace.ts';
export { callsOfRun, stepsOfRun } from './trace-store.ts';
export { questionText, readTranscript, type Transcript } from './transcript.ts';
export { isOver } from './turn.ts';
export { usableModel } from './usable-model.ts';
export { manifestOf } from './version-cache.ts';
