import { newId } from '@vestra/contract/ids';
import type { Transaction } from '../../platform/db/pool.ts';
import { longestFact, mostFacts, type NewFact, type Owner } from './fact.ts';
import { profileOf } from './profile.ts';
import {
  countFacts,
  deleteFactsOf,
  deleteOldestInferred,
  isKnown,
  lockMemory,
  newestOfEachKind,
  replaceProfile,
  type StoredVector,
  upsertFact,
} from './store.ts';
import type { FactRow } from './tables.ts';
import { unfitFact } from './unfit-fact.ts';

export type KeptFact = FactRow | { refused: string };

/** Keeps facts, each once, and lets go of those that are no longer true; the profile follows. */
export async function keepFacts(
  tx: Transaction,
  owner: Owner,
  { facts, outdated = [] }: { facts: readonly (NewFact & { vector: StoredVector })[]; outdated?: readonly string[] },
): Promise<KeptFact[]> {
  await lockMemory(tx, owner);
  if (outdated.length > 0) await deleteFactsOf(tx, owner, outdated);
  const kept: KeptFact[] = [];
  for (const { vector, ...fact } of facts) kept.push(await keepOne(tx, owner, fact, vector));
  await refreshProfile(tx, owner);
  return kept;
}

async function keepOne(tx: Transaction, owner: Owner, fact: NewFact, vector: StoredVector): Promise<KeptFact> {
  const refused = refusalOf(fact.text) ?? (await refusalForRoom(tx, owner, fact.text));
  return refused === null ? upsertFact(tx, owner, newId('mem'), fact, vector) : { refused };
}

/** Why nobody's memory takes the text, whoever keeps it. */
export function refusalOf(text: string): string | null {
  if (text.trim() === '') return 'A fact needs words.';
  if ([...text].length > longestFact) return `A fact has at most ${longestFact} characters.`;
  return unfitFact(text);
}

/** Makes room where the memory is full. */
async function refusalForRoom(tx: Transaction, owner: Owner, text: string): Promise<string | null> {
  const over = (await countFacts(tx, owner)) - mostFacts + 1;
  if (over <= 0 || (await isKnown(tx, owner, text))) return null;
  const gone = await deleteOldestInferred(tx, owner, over);
  return gone === over ? null : `The memory holds ${mostFacts} facts that were told directly. Delete some first.`;
}

/** Inside the lock of the memory. */
export async function refreshProfile(tx: Transaction, owner: Owner): Promise<void> {
  await replaceProfile(tx, owner, profileOf(await newestOfEachKind(tx, owner)));
}
