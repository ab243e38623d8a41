import { fail } from '@vestra/contract/errors';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { findUser } from '../store.ts';
import type { Owner } from './fact.ts';
import { refreshProfile } from './keep-facts.ts';
import { deleteFactsOf, findDeletion, lockMemory, noteDeletion } from './store.ts';

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
