import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { findUser } from '../store.ts';
import type { FactRow } from '../tables.ts';
import { longestFact, mostFacts, type NewFact, type Owner, unfitFact } from './fact.ts';
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
async function refreshProfile(tx: Transaction, owner: Owner): Promise<void> {
  await replaceProfile(tx, owner, profileOf(await newestOfEachKind(tx, owner)));
}

/**
 * A deletion wins over everything said before it: no background look and no agent may learn it again, in these words or
 * in others. Whether two texts say the same cannot be decided surely, so any deletion puts an end to learning from what
 * was said until then, also of what has nothing to do with the deleted fact. A fact that is lost can be said again; one
 * that comes back after it was deleted breaks a promise.
 */
export type Standing = {
  /** When facts of the owner were last deleted. */
  forgottenAt: Date | null;
  /** When the user came. Another moment is another person: the user was erased, and the id was given again. */
  userSince: Date | null;
};

/** Facts were deleted, or the user erased, since the text was read that the facts were learned from. */
export class DeletedMeanwhile extends Error {
  override readonly name = 'DeletedMeanwhile';
}

export async function standingOf(db: Executor, owner: Owner): Promise<Standing> {
  const user = owner.userId === null ? null : await findUser(db, owner, owner.userId);
  return { forgottenAt: await findDeletion(db, owner), userSince: user?.created_at ?? null };
}

/** Decides whether facts may still be learned. Throws if they come from before the last deletion. */
export type MayLearn = (now: Standing) => void;

export const unchangedSince =
  (seen: Standing): MayLearn =>
  (now) => {
    const isSame = (one: Date | null, other: Date | null) => one?.getTime() === other?.getTime();
    if (!isSame(seen.forgottenAt, now.forgottenAt) || !isSame(seen.userSince, now.userSince)) {
      throw new DeletedMeanwhile('Memories were deleted since this was read.');
    }
  };

/** In the transaction that stores or sends the facts: no deletion can commit in between. */
export async function lockToLearn(tx: Transaction, owner: Owner, mayLearn: MayLearn): Promise<void> {
  await lockMemory(tx, owner);
  mayLearn(await standingOf(tx, owner));
}

export async function forgetFact(tx: Transaction, owner: Owner, id: string): Promise<void> {
  await lockMemory(tx, owner);
  const gone = await deleteFactsOf(tx, owner, [id]);
  if (gone.length === 0) throw fail('memory_not_found');
  await noteDeletion(tx, owner);
  await refreshProfile(tx, owner);
}

/** Returns the number of facts deleted. */
export async function forgetEverything(tx: Transaction, owner: Owner): Promise<number> {
  await stopLearning(tx, owner);
  const gone = await deleteFactsOf(tx, owner);
  await refreshProfile(tx, owner);
  return gone.length;
}

/** From the commit on, nothing said before is learned. Also for facts that the org's own endpoint holds. */
export async function stopLearning(tx: Transaction, owner: Owner): Promise<void> {
  await lockMemory(tx, owner);
  // Nothing can have been said by a user who is not there, and their id is not stored for it.
  if (owner.userId !== null && !(await findUser(tx, owner, owner.userId))) return;
  await noteDeletion(tx, owner);
}
