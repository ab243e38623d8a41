import type { Role, Route, Scope } from './route.ts';

/** What a role may do, in the words of key scopes. An admin lacks `all`, which would let them make a key that makes owners. */
export const scopesOfRole: Record<Role, readonly Scope[]> = {
  owner: ['all'],
  admin: ['setup', 'runtime', 'admin'],
  developer: ['setup', 'runtime'],
};

/**
 * Whether a console member of this role may call a route: the server holds them to it, and a page offers no more. What the
 * change is about may narrow it further, such as that an admin makes no owner.
 */
export function roleMayCall(role: Role, route: Route): boolean {
  if (route.auth === 'open' || route.auth === 'console') return true;
  if (route.auth === 'session') return false;
  if (route.ownerOnly) return role === 'owner';
  const held = scopesOfRole[role];
  return route.scopes === 'any' || held.includes('all') || route.scopes.some((scope) => held.includes(scope));
}
