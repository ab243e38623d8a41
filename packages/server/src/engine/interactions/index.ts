export {
  deploymentsWithCalls,
  findInteraction,
  pendingInteractions,
  releaseCall,
  renewCall,
  type TakenCall,
  takeCalls,
  waitingToConnect,
} from '../records/interactions.ts';
export { publishCallProgress } from '../records/publish.ts';
export type { InteractionRow } from '../records/tables.ts';
export { type InteractionAnswer, readAnswer } from '../turns/interaction-answer.ts';
export { type InteractionResolution, resolveConnects, resolveInteraction } from '../turns/interactions.ts';
export { answerInteraction, assertMayAnswer, ownInteraction } from './answer.ts';
