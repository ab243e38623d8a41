export { capsForUser, capsRemaining, type Spend } from './allowance.ts';
export { balanceOf, spendOfUsers } from './balance.ts';
export { credit } from './credit.ts';
export { eraseSpender } from './erase.ts';
export { foldLedger } from './fold.ts';
