import type { Caller } from '../../platform/caller.ts';
import type { FeedbackRow } from './tables.ts';

export type Rater = { type: FeedbackRow['rater_type']; id: string };

/** Sessions come and go; the user behind them is one. */
export function raterOf({
  session,
  member,
  grant,
  actor,
}: Pick<Caller, 'session' | 'member' | 'grant' | 'actor'>): Rater {
  if (session) return { type: 'user', id: session.userId ?? '' };
  if (grant) return { type: 'member', id: grant.memberId };
  return member ? { type: 'member', id: member.id } : { type: 'key', id: actor.id };
}
