export { capsForUser, capsRemaining, type Refusal, refusalFailure, type Spend } from './allowance.ts';
export { spendOfUsers } from './budget-owner.ts';
export { charge, charging } from './charge.ts';
export type { ChargeItem, Used } from './charge-items.ts';
export { type Cost, costOf, costOfKinds, costOfTurn, costsOf, presentCost, tokensAndCostOf } from './cost.ts';
export type { MoneyLine } from './hold-queue.ts';
export { mostHeldTogether, refusalOfSpending, release, reserve, type Spending } from './holds.ts';
export { type CutCalls, chargeCutCalls, computerTime, holdMetered, noteUsed } from './metered-usage.ts';
export { holdingPlenty, holdPlentyForAll } from './optimistic-holds.ts';
