import type { Micros } from '@vestra/contract/money';
import type { CapName } from './allowance.ts';

/** A percentage of a cap that spend has reached; 100 is the cap itself. */
export type Alert = {
  cap: CapName;
  /** Null for the org's caps. */
  userId: string | null;
  /** The day or month that the cap counts. */
  period: string;
  threshold: number;
  capMicros: Micros;
  spendMicros: Micros;
};
