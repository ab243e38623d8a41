import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { findUser } from '../store.ts';
import type { FactRow } from '../tables.ts';
import { maxFactLength, maxFacts, type NewFact, type Owner, unfitFact } from './fact.ts';
import {
  countFacts,
  deleteFactsOf,
  deleteOldestInferred,
  findDeletion,
  isKnown,
  lockMemory,
  newestOfEachKind,
  noteDeletion,
  profileOf,
  replaceProfile,
  type StoredVector,
  upsertFact,
} from './store.ts';

type KeptFact = FactRow | { refused: string };

/** Stores facts without duplicates, deletes outdated ones and updates the profile. */
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

/** The reason why no memory accepts the text, or null. Applies to every memory mode. */
export function refusalOf(text: string): string | null {
  if (text.trim() === '') return 'A fact needs words.';
  if ([...text].length > maxFactLength) return `A fact has at most ${maxFactLength} characters.`;
  return unfitFact(text);
}

/** Deletes old inferred facts if the memory is full. Returns the reason if that is not enough. */
async function refusalForRoom(tx: Transaction, owner: Owner, text: string): Promise<string | null> {
  const over = (await countFacts(tx, owner)) - maxFacts + 1;
  if (over <= 0 || (await isKnown(tx, owner, text))) return null;
  const gone = await deleteOldestInferred(tx, owner, over);
  return gone === over ? null : `The memory holds ${maxFacts} facts that users stated directly. Delete some first.`;
}

/** The caller must hold the lock of the memory. */
async function refreshProfile(tx: Transaction, owner: Owner): Promise<void> {
  await replaceProfile(tx, owner, profileOf(await newestOfEachKind(tx, owner)));
}

/**
 * A deleted fact must not be learned again from earlier text, in the same words or in others. No check can decide
 * reliably whether two texts mean the same. So any deletion stops learning from all earlier text, even about unrelated
 * facts. A user can repeat a lost fact. A deleted fact that returns breaks a promise.
 */
export type DeletionState = {
  /** When facts of the owner were last deleted. */
  forgottenAt: Date | null;
  /** When the user was created. A different time means that the user was erased and the id is used by someone else. */
  userSince: Date | null;
};

/** Facts were deleted, or the user erased, since the text was read that the facts were learned from. */
export class DeletedMeanwhile extends Error {
  override readonly name = 'DeletedMeanwhile';
}

export async function deletionStateOf(db: Executor, owner: Owner): Promise<DeletionState> {
  const user = owner.userId === null ? null : await findUser(db, owner, owner.userId);
  return { forgottenAt: await findDeletion(db, owner), userSince: user?.created_at ?? null };
}

/** Decides whether facts may still be learned. Throws if they come from before the last deletion. */
export type MayLearn = (now: DeletionState) => void;

export const unchangedSince =
  (seen: DeletionState): MayLearn =>
  (now) => {
    const isSame = (one: Date | null, other: Date | null) => one?.getTime() === other?.getTime();
    if (!isSame(seen.forgottenAt, now.forgottenAt) || !isSame(seen.userSince, now.userSince)) {
      throw new DeletedMeanwhile('Memories were deleted since this was read.');
    }
  };

/** In the transaction that stores or sends the facts: no deletion can commit in between. */
export async function lockToLearn(tx: Transaction, owner: Owner, mayLearn: MayLearn): Promise<void> {
  await lockMemory(tx, owner);
  mayLearn(await deletionStateOf(tx, owner));
}

export async function forgetFact(tx: Transaction, owner: Owner, id: string): Promise<void> {
  await lockMemory(tx, owner);
  const gone = await deleteFactsOf(tx, owner, [id]);
  if (gone.length === 0) throw fail('memory_not_found');
  await noteDeletion(tx, owner);
  await refreshProfile(tx, owner);
}

/** Returns the ids of the deleted facts. */
export async function forgetEverything(tx: Transaction, owner: Owner): Promise<string[]> {
  await stopLearning(tx, owner);
  const gone = await deleteFactsOf(tx, owner);
  await refreshProfile(tx, owner);
  return gone;
}

/** After the commit, no fact is learned from earlier text. This also applies to memory behind the org's endpoint. */
export async function stopLearning(tx: Transaction, owner: Owner): Promise<void> {
  await lockMemory(tx, owner);
  // An unknown user has said nothing, so do not store their id.
  if (owner.userId !== null && !(await findUser(tx, owner, owner.userId))) return;
  await noteDeletion(tx, owner);
}
