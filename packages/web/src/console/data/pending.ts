import { useAccess } from '../access/session.ts';
import { useOrgAndMode, useRole } from './api.ts';
import { useOne } from './queries.ts';

const most = 50;

/** The number of pending interactions as text, such as `3` or `50+`; empty if there are none. */
export function usePendingCount(): string {
  const { org } = useOrgAndMode();
  const { session } = useAccess();
  const { may } = useRole();
  const isMember = session?.orgs.some(({ id }) => id === org) ?? false;
  const { data } = useOne('interactions.list', { limit: most }, { enabled: isMember && may('interactions.list') });
  if (!data || data.data.length === 0) return '';
  return `${data.data.length}${data.next_cursor === null ? '' : '+'}`;
}
