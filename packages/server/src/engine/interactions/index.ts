export { findInteraction, pendingInteractions, waitingToConnect } from '../records/interactions.ts';
export { publishCallProgress } from '../records/publish.ts';
export type { InteractionRow } from '../records/tables.ts';
export { deploymentsWithCalls, releaseCall, renewCall, type TakenCall, takeCalls } from '../records/tool-calls.ts';
export { type InteractionAnswer, readAnswer } from '../turns/interaction-answer.ts';
export { type InteractionResolution, resolveConnects, resolveInteraction } from '../turns/interactions.ts';
export { answerInteraction, assertMayAnswer, ownInteraction } from './answer.ts';
