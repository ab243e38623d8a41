export { findInteraction, pendingInteractions, waitingToConnect } from '../engine/records/interactions.ts';
export type { InteractionRow } from '../engine/records/tables.ts';
export { tellCallProgress } from '../engine/records/tell.ts';
export {
  deploymentsWithCalls,
  releaseCall,
  renewCall,
  type TakenCall,
  takeCalls,
} from '../engine/records/tool-calls.ts';
export { type Answer, readAnswer } from '../engine/turns/answer.ts';
export { resolveConnects } from '../engine/turns/resolve-connects.ts';
export { type Resolution, resolveInteraction } from '../engine/turns/resolve-interaction.ts';
export { answerInteraction, assertAsked, ownInteraction, takeAnswer } from './answer.ts';
