import access from 'virtual:contract/access';
import type { Role } from '@vestra/contract/route';
import type { RowName } from '../data/rows.ts';

/** The server decides; this keeps from being offered what it would refuse. */
const scopesOfRole: Record<Role, readonly string[]> = {
  owner: ['setup', 'runtime', 'admin', 'owner'],
  admin: ['setup', 'runtime', 'admin'],
  developer: ['setup', 'runtime'],
};

export function mayCall(role: Role, row: RowName): boolean {
  const needed = access[row];
  return !needed || needed.some((scope) => scopesOfRole[role].includes(scope));
}
