export { capsForUser, capsRemaining, type Refusal, refusalFailure, type Spend } from './allowance.ts';
export { balanceOf, spendOfUsers } from './balance.ts';
export { type ChargeItem, charge } from './charge.ts';
export { type Cost, costOf, costOfKinds, costOfTurn, costsOf, noCost } from './cost.ts';
export { credit } from './credit.ts';
export { eraseSpender } from './erase.ts';
export { foldLedger } from './fold.ts';
export { presentCost } from './present.ts';
export { release, reserve } from './reserve.ts';
