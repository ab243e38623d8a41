import type { Micros } from '@vestra/contract/money';
import type { ChargeItem, Used } from './charge-item.ts';

type Whose = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

/** A ten-thousandth of a dollar a second. */
const microsPerSecond = 100;

/** The price of running a computer. */
export const computerTime = {
  maxCost: (seconds: number): Micros => BigInt(Math.ceil(seconds * microsPerSecond)),

  item: (seconds: number, about: Whose): ChargeItem => ({
    kind: 'compute',
    model: null,
    quantity: seconds,
    unit: 'seconds',
    unitPriceMicros: microsPerSecond,
    ...about,
  }),

  /** For a hold: the seconds are not known until the computer reports them. */
  unmeasured: {
    kind: 'compute',
    model: null,
    items: [{ unit: 'seconds', quantity: null, unitPriceMicros: microsPerSecond }],
  } satisfies Used,
};
