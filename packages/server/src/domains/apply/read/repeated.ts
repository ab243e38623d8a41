import type { Fault } from '@vestra/contract/errors';
import { fault } from './refusal.ts';

/** A fault for every name that was there before; each is given with its place. */
export function repeated(named: readonly (readonly string[])[], message: (name: string) => string): Fault[] {
  const seen = new Set<string>();
  return named.flatMap(([name = '', at = '']) => {
    if (seen.has(name)) return [fault('duplicate_name', at, message(name.slice(0, 120)))];
    seen.add(name);
    return [];
  });
}
