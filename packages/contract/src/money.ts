import { z } from 'zod';

/** Money is stored as whole micro-dollars and shown with at most five decimals; charges show all six. */
export type Micros = bigint;

export const usd = z.number().describe('US dollars, with at most five decimals.');
export const exactUsd = z.number().describe('US dollars, to the micro-dollar: six decimals.');

/** Rounds half away from zero, so that a charge and its refund show the same figure. */
export function microsToUsd(micros: Micros): number {
  const negative = micros < 0n;
  const size = negative ? -micros : micros;
  const steps = Number((size + 5n) / 10n);
  return (negative ? -steps : steps) / 100_000 + 0;
}

/** Parsed as a decimal, so that the result is exactly the micro-dollars and not a rounded sum. */
export const microsToExactUsd = (micros: Micros): number => Number(`${micros}e-6`);

export function usdToMicros(dollars: number): Micros {
  return BigInt(Math.round(dollars * 1_000_000));
}
