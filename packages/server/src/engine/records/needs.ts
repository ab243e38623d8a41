import type { InteractionNeed } from '@vestra/contract/interactions';
import type { InteractionRow } from './tables.ts';

/** What has to come with the yes to an approval, or has to happen in place of an answer. The answer is held to the same. */
export function needsOf(
  row: Pick<InteractionRow, 'type' | 'kind' | 'details' | 'nonce'> & Presence,
): InteractionNeed[] {
  if (row.type === 'connect') return ['connection'];
  if (row.type !== 'approval' || row.kind === 'plan_limit') return [];
  if (row.details.renderer === 'ability_install') return ['installation'];
  return [...(needsPresence(row) ? ['present_user' as const] : []), ...(row.nonce === null ? [] : ['nonce' as const])];
}

type Presence = Pick<InteractionRow, 'kind' | 'moves_money' | 'requires_present_user' | 'approver'>;

/** A user's yes to a company action, to spending, or to what is approved in person comes from somebody who is there. */
const needsPresence = ({ kind, moves_money, requires_present_user, approver }: Presence) =>
  approver === 'user' &&
  (kind === 'tool_permission' ||
    kind === 'credit_approval' ||
    kind === 'hands_approval' ||
    moves_money === true ||
    requires_present_user);
