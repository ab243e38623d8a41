export { ask, forWaitingCaller, judgeLine, paidByOrg } from './questions/model-questions.ts';
export {
  announce,
  type Change,
  type Committed,
  changeConversation,
  changing,
  collectJobs,
  type Outbox,
} from './records/change.ts';
export { usableModel } from './records/usable-model.ts';
export type { Engine } from './runs/ports.ts';
export { computerRuns, meteringComputer } from './tools/tool-calls.ts';
export type { Admission, NewMessage } from './transitions/begin-turn.ts';
export { acceptMessage, admit } from './turns/accept.ts';
export { ignoreErased } from './turns/begin-task.ts';
export { recordExchange } from './turns/record-exchange.ts';
export { goOnWithTask } from './turns/resolve-interaction.ts';
export type { Place } from './turns/runner.ts';
export { assertPayable } from './turns/spending.ts';
export { beginWork } from './turns/start-tasks.ts';
export { stopAll } from './turns/stop.ts';
