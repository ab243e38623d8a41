import { area } from '../requirement.ts';

export const money = area('money', 'done', [
  ['MON-001', 'docs/users-and-money.md#the-wallet', 'Spend is metered in billed US dollars.'],
  [
    'MON-002',
    'docs/users-and-money.md#the-wallet',
    'With an empty wallet work stops and new work answers 402 `wallet_empty`.',
  ],
  [
    'MON-003',
    'docs/users-and-money.md#caps',
    "A message beyond the org's day or month cap answers 402 `org_cap_reached`.",
  ],
  [
    'MON-004',
    'docs/users-and-money.md#caps',
    "A message beyond the user's day or month cap answers 402 `user_cap_reached`.",
  ],
  [
    'MON-005',
    'docs/users-and-money.md#the-wallet',
    'Amounts are stored as integer micro-dollars, so sums of many small charges are exact.',
  ],
  ['MON-006', 'docs/users-and-money.md#the-wallet', 'Amounts are shown as numbers with at most 5 decimals.'],
  [
    'MON-007',
    'docs/users-and-money.md#the-wallet',
    'The balance always equals the sum of the ledger, also under concurrent charges.',
  ],
  [
    'MON-008',
    'docs/users-and-money.md#the-wallet',
    'The ledger is double-entry: the entries of every booking sum to zero.',
  ],
  ['MON-009', 'docs/users-and-money.md#the-wallet', 'A new org starts with 100 test dollars.'],
  ['MON-010', 'docs/users-and-money.md#the-wallet', '`vestra admin credit` adds live money to an org.'],
  ['MON-011', 'docs/users-and-money.md#the-wallet', 'The live wallet of a new org starts at 0.'],
  [
    'MON-012',
    'docs/users-and-money.md#the-wallet',
    'The 402 of an empty live wallet names the operator command that adds money.',
  ],
  ['MON-013', 'docs/users-and-money.md#caps', 'A cap of 0 lets nothing be spent.'],
  [
    'MON-014',
    'docs/offline-model.md#rules-of-the-offline-model',
    '`offline` costs 0.10 per million input tokens and 0.40 per million output tokens.',
  ],
  [
    'MON-015',
    'docs/model-settings.md#providers',
    '`compatible/*` costs 1.00 in and 4.00 out per million tokens unless `OPENAI_COMPATIBLE_PRICE=<in>,<out>` sets others.',
  ],
  ['MON-016', 'docs/computer.md#rules', 'A running computer costs 0.0001 a second.'],
  [
    'MON-017',
    'docs/users-and-money.md#get-a-warning-first',
    'Each threshold and each cap is announced once per cap, amount and period.',
  ],
  [
    'MON-018',
    'docs/users-and-money.md#get-a-warning-first',
    '`usage.threshold_reached` is emitted when spend reaches a configured percentage of a cap.',
  ],
  [
    'MON-019',
    'docs/users-and-money.md#get-a-warning-first',
    '`usage.cap_reached` is emitted when spend reaches 100 percent of a cap, whatever thresholds are configured.',
  ],
  [
    'MON-020',
    'docs/users-and-money.md#caps',
    "A user's day cap counts the UTC day, the month cap the UTC calendar month.",
  ],
  ['MON-021', 'docs/users-and-money.md#caps', "A user's own cap replaces the org's cap for users."],
  ['MON-022', 'docs/users-and-money.md#usage', '`cost_usd` of a conversation equals the sum of its line items.'],
  [
    'MON-023',
    'docs/api/conversations.md#conversation',
    '`cost_breakdown` holds the numbers `orchestrator`, `intelligence`, `tools`, `compute`, `background`, `voice`, and they sum to `cost_usd`.',
  ],
  ['MON-024', 'docs/users-and-money.md#usage', 'The charges of a task are complete within a few seconds of its end.'],
  [
    'MON-025',
    'docs/users-and-money.md#the-wallet',
    'Test spend never touches the live wallet and live spend never the test wallet.',
  ],
  [
    'MON-161',
    'docs/users-and-money.md#the-wallet',
    'A call that finds the money held by other calls waits for it, and ends only when the money is spent or its own time is up.',
  ],
  [
    'MON-162',
    'docs/users-and-money.md#the-wallet',
    'Calls that wait for money continue one of each user after the other, in the order they came.',
  ],
  [
    'MON-163',
    'docs/users-and-money.md#the-wallet',
    'However many calls ask at once, a cap or a wallet is passed by the last call at most.',
  ],
  [
    'MON-164',
    'docs/users-and-money.md#the-wallet',
    'A call holds what its request and its longest answer may cost, and that length is what the vendor is asked for.',
  ],
  [
    'MON-165',
    'docs/users-and-money.md#usage',
    'Text written before a stop or a failure is charged, once, marked `estimated`; so is the time of a stopped computer.',
  ],
  [
    'MON-166',
    'docs/users-and-money.md#usage',
    'The exact cost of a charge is rounded once, and each line item is within a micro-dollar of its price.',
  ],
  [
    'MON-167',
    'docs/users-and-money.md#usage',
    'Cache reads and cache writes have prices of their own, and no token is charged twice.',
  ],
  [
    'MON-168',
    'docs/users-and-money.md#usage',
    'Ledger, line items, turns, tasks, traces, conversations, usage and wallet add up, whatever was stopped or failed.',
  ],
  [
    'MON-490',
    'docs/users-and-money.md#caps',
    'Runs that begin together hold money each or not at all, by the rules of one, and one group of an org after the other.',
  ],
  [
    'MON-531',
    'docs/users-and-money.md#the-wallet',
    'A reply begins at once only if each cap of its org and user, and the wallet, have plenty left, rolled up or not.',
  ],
  [
    'MON-640',
    'docs/users-and-money.md#usage',
    'A command or a model call that the time limit cuts off is charged like one that a person stops.',
  ],
  [
    'MON-642',
    'docs/users-and-money.md#usage',
    'A call that a process cuts off as it shuts down is charged once, marked `estimated`.',
  ],
  [
    'MON-641',
    'docs/users-and-money.md#usage',
    'A call in flight when its user is erased is charged, and its cost moves to `unknown`.',
  ],
]);
