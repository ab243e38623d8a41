export { capsRemaining, refusalFailure, type Spend, type SpendingRefusal } from './allowance.ts';
export { spendOfUsers } from './budget-owner.ts';
export { charge, chargeStatement } from './charge.ts';
export type { ChargeItem, MeteredUsage } from './charge-items.ts';
export {
  type Cost,
  costOf,
  costOfKinds,
  costOfTurn,
  costsOf,
  presentCost,
  tokensAndCostOf,
} from './cost.ts';
export type { HoldQueue } from './hold-queue.ts';
export {
  type BudgetOwner,
  checkSpending,
  deleteHoldsOfEndedRuns,
  maxHoldsTogether,
  releaseHold,
  reserve,
} from './holds.ts';
export {
  chargeInterruptedCalls,
  computerTime,
  holdForMeteredUsage,
  type InterruptedCalls,
  recordHoldUsage,
} from './metered-usage.ts';
export { holdAllOptimistically, optimisticHoldStatement } from './optimistic-holds.ts';
