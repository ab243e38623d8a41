export { acceptMessage, admit, type NewMessage, readAttachments } from './accept.ts';
export { type Answer, readAnswer } from './answer.ts';
export { takeUpReply } from './begin-reply.ts';
export { ignoreErased, takeUpTask } from './begin-task.ts';
export { announce, type Change, type Committed, changeConversation, changing, lockOwnConversation } from './change.ts';
export { createEngine } from './create-engine.ts';
export { eraseConversationsOf } from './erase.ts';
export { expireInteractions } from './expire.ts';
export { judge, type Verdict } from './judge.ts';
export { keepMemories } from './keep-memory.ts';
export type { Engine } from './ports.ts';
export {
  presentConversation,
  presentInteraction,
  presentLogEntry,
  presentMessage,
  presentTask,
  presentTurn,
} from './present.ts';
export { pruneTraces } from './prune-traces.ts';
export { readRunTrace } from './run-trace.ts';
export { createRunner, type Runner } from './runner.ts';
export { settleInteraction } from './settle.ts';
export { stopAll, stopTask } from './stop.ts';
export {
  findConversation,
  findInteraction,
  findTask,
  findTurn,
  firstSeqOfTurn,
  insertConversation,
  listConversations,
  listMessages,
  openTasks,
  pendingInteractions,
  pendingWithArguments,
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
} from './tables.ts';
export { presentTraceStep } from './trace.ts';
export { callsOfRun, stepsOfRun } from './trace-store.ts';
export { isOver } from './turn.ts';
