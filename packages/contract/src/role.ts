import type { Role, Route, Scope } from './route.ts';

/** The scopes of each role. An admin lacks `all`, which would allow creating a key that creates owners. */
export const scopesOfRole: Record<Role, readonly Scope[]> = {
  owner: ['all'],
  admin: ['setup', 'runtime', 'admin'],
  developer: ['setup', 'runtime'],
};

/**
 * Whether a console member of this role may call a route. The server enforces it, and pages hide the rest. The change
 * itself may be restricted further: an admin cannot create an owner.
 */
export function roleMayCall(role: Role, route: Route): boolean {
  if (route.auth === 'open' || route.auth === 'console') return true;
  if (route.auth === 'session') return false;
  if (route.ownerOnly) return role === 'owner';
  const held = scopesOfRole[role];
  return route.scopes === 'any' || held.includes('all') || route.scopes.some((scope) => held.includes(scope));
}
