import { useRole } from '../data/api.ts';
import { useList } from '../data/queries.ts';

/** Names of the newest users and deployments, for lists. Others are shown by their ids. */
export function useNames() {
  const { may } = useRole();
  const users = useList('users.list', {} as never, { limit: 100, enabled: may('users.list') });
  const deployments = useList('deployments.list', {} as never, { limit: 100, enabled: may('deployments.list') });
  // Apart, because a user's id is any text and may be the id of a deployment.
  const nameOfUser = new Map(users.rows.map(({ id, name, email }) => [id, name ?? email ?? id]));
  const nameOfDeployment = new Map(deployments.rows.map(({ id, name }) => [id, name]));
  return {
    ofUser: (id: string) => nameOfUser.get(id) ?? id,
    ofDeployment: (id: string) => nameOfDeployment.get(id) ?? id,
    /** The choices of a filter by deployment. */
    deployments: deployments.rows.map(({ slug, name }) => [slug, name] as const),
  };
}
