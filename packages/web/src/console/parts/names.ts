import { useRole } from '../data/api.ts';
import { useList } from '../data/queries.ts';

/** Names of the newest users and deployments, for lists. Others are shown by their ids. */
export function useNames() {
  const { may } = useRole();
  const users = useList('users.list', {} as never, { limit: 100, enabled: may('users.list') });
  const deployments = useList('deployments.list', {} as never, { limit: 100, enabled: may('deployments.list') });
  const nameOf = new Map<string, string>();
  for (const { id, name, email } of users.rows) nameOf.set(id, name ?? email ?? id);
  for (const { id, name } of deployments.rows) nameOf.set(id, name);
  const find = (id: string) => nameOf.get(id) ?? id;
  return {
    ofUser: find,
    ofDeployment: find,
    /** The choices of a filter by deployment. */
    deployments: deployments.rows.map(({ slug, name }) => [slug, name] as const),
  };
}
