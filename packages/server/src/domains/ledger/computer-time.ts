import type { Micros } from '@vestra/contract/money';
import type { ChargeItem, Used } from './charge-item.ts';

type Whose = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

/** A ten-thousandth of a dollar a second. */
const computerMicrosPerSecond = 100;

export const mostOfComputer = (seconds: number): Micros => BigInt(Math.ceil(seconds * computerMicrosPerSecond));

export const computerItem = (seconds: number, about: Whose): ChargeItem => ({
  kind: 'compute',
  model: null,
  quantity: seconds,
  unit: 'seconds',
  unitPriceMicros: computerMicrosPerSecond,
  ...about,
});

/** The seconds for which a computer has run are not known before it is asked. */
export const usedByComputer: Used = {
  kind: 'compute',
  model: null,
  items: [{ unit: 'seconds', quantity: null, unitPriceMicros: computerMicrosPerSecond }],
};
