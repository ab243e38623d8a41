import { useRole } from '../data/api.ts';
import { useOne } from '../data/queries.ts';
import { PageLink } from './page-link.tsx';

/** A link to a deployment, with an optional version. */
export function DeploymentLink({ id, version = null }: { id: string; version?: number | null }) {
  const { may } = useRole();
  const deployment = useOne('deployments.get', { deployment_id: id } as never, { enabled: may('deployments.get') });
  const found = deployment.data as { name: string } | undefined;
  return (
    <PageLink className="text-accent underline underline-offset-2" to={`/deployments/${id}`}>
      {found?.name ?? id} {version !== null && `v${version}`}
    </PageLink>
  );
}
