import { fail } from '@vestra/contract/errors';
import type { Transaction } from '../../db/pool.ts';
import type { Owner } from './fact.ts';
import { refreshProfile } from './keep-facts.ts';
import { deleteFactsOf, lockMemory } from './store.ts';

export async function forgetFact(tx: Transaction, owner: Owner, id: string): Promise<void> {
  await lockMemory(tx, owner);
  const gone = await deleteFactsOf(tx, owner, [id]);
  if (gone.length === 0) throw fail('memory_not_found');
  await refreshProfile(tx, owner);
}

/** How many facts there were. */
export async function forgetEverything(tx: Transaction, owner: Owner): Promise<number> {
  await lockMemory(tx, owner);
  const gone = await deleteFactsOf(tx, owner);
  await refreshProfile(tx, owner);
  return gone.length;
}
