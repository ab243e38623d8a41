export { stopAndEraseHidden } from './conversations/delete.ts';
export { ask, forWaitingCaller, judgeLine, paidByOrg } from './questions/model-questions.ts';
export {
  announce,
  type Change,
  type CommittedChange,
  changeConversation,
  changeInTransaction,
  collectJobs,
  type Outbox,
} from './records/change.ts';
export { deploymentOfConversation } from './records/conversations.ts';
export { meanTurnMs } from './records/turns.ts';
export type { Engine } from './runs/ports.ts';
export { reportComputerStart, withComputerMeter } from './tools/tool-calls.ts';
export type { Admission, NewMessage } from './transitions/begin-turn.ts';
export { acceptMessage, admit, recordExchange } from './turns/accept.ts';
export { resumeTask } from './turns/interactions.ts';
export type { RunSlot } from './turns/runner.ts';
export { assertPayable, maxCostOfMessage, usableModel } from './turns/spending.ts';
export { ignoreErased, startTasks } from './turns/start-run.ts';
export { stopAll } from './turns/stop.ts';
