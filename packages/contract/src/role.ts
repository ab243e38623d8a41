import type { Role, Route, Scope } from './route.ts';

/** The scopes of each role. An admin lacks `all`, which would allow creating a key that creates owners. */
export const scopesOfRole: Record<Role, readonly Scope[]> = {
  owner: ['all'],
  admin: ['setup', 'runtime', 'admin'],
  developer: ['setup', 'runtime'],
  // Without a scope, an MCP client that a viewer authorizes gets none.
  viewer: [],
};

/**
 * Whether a console member of this role may call a route. The server enforces it, and pages hide the rest. The change
 * itself may be restricted further: an admin cannot create an owner.
 */
export function roleMayCall(role: Role, route: Route): boolean {
  if (route.auth === 'open' || route.auth === 'console') return true;
  if (route.auth === 'session') return false;
  if (route.ownerOnly) return role === 'owner';
  if (role === 'viewer') return isForViewers(route) && roleMayCall('developer', route);
  const held = scopesOfRole[role];
  return route.scopes === 'any' || held.includes('all') || route.scopes.some((scope) => held.includes(scope));
}

/** A viewer reads what a developer reads, wakes no computer and sees no secret. */
const isForViewers = ({ method, wakes, showsSecret, namesSecrets }: Route): boolean =>
  method === 'GET' && !wakes && !showsSecret && !namesSecrets;
