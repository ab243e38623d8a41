import type { Mode } from '@vestra/contract/route';
import type { Origin } from '../../caller.ts';

/** The operator as the one behind a change, for the audit log of the org. */
export const operatorIn = (orgId: string, mode: Mode): Origin => ({
  orgId,
  mode,
  actor: { type: 'system', id: 'operator', name: 'Operator' },
  requestId: null,
  ip: null,
});
