export { type AlertDependencies, tellAlerts } from './alerts.ts';
export {
  capsForUser,
  capsRemaining,
  type OrgCaps,
  type Refusal,
  refusalFailure,
  type Spend,
  type UserCaps,
} from './allowance.ts';
export { balanceOf, spendOfUsers } from './balance.ts';
export { type ChargeItem, charge, costOfItem } from './charge.ts';
export { type Cost, costOf, costsOf } from './cost.ts';
export { credit } from './credit.ts';
export { eraseSpender } from './erase.ts';
export { foldLedger } from './fold.ts';
export { presentCost } from './present.ts';
export { release, reserve } from './reserve.ts';
