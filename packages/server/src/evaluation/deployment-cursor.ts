import { fail } from '@vestra/contract/errors';

/** The last id that the caller has seen, or null. A cursor is valid only for the deployment whose list it came from. */
export function lastSeenId(listedDeploymentId: string, after: readonly string[] | null): string | null {
  if (after === null) return null;
  const [deploymentId, id] = after;
  if (deploymentId !== listedDeploymentId) throw fail('invalid_cursor', { param: 'cursor' });
  return id as string;
}
