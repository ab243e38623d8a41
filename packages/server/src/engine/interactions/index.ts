export { findInteraction, pendingInteractions, waitingToConnect } from '../records/interactions.ts';
export type { InteractionRow } from '../records/tables.ts';
export { tellCallProgress } from '../records/tell.ts';
export { deploymentsWithCalls, releaseCall, renewCall, type TakenCall, takeCalls } from '../records/tool-calls.ts';
export { type Answer, readAnswer } from '../turns/answer.ts';
export { resolveConnects } from '../turns/resolve-connects.ts';
export { type Resolution, resolveInteraction } from '../turns/resolve-interaction.ts';
export { answerInteraction, assertAsked, ownInteraction } from './answer.ts';
