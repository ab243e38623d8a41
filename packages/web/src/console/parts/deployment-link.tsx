import { useRole } from '../data/api.ts';
import { useOne } from '../data/queries.ts';
import { ComingName } from './names.tsx';
import { PageLink } from './page-link.tsx';

const look = 'text-accent underline underline-offset-2 wrap-anywhere';

/** A link to a deployment, with an optional version. */
export function DeploymentLink({ id, version = null }: { id: string; version?: number | null }) {
  const { may } = useRole();
  const isKnown = may('deployments.get');
  const deployment = useOne('deployments.get', { deployment_id: id } as never, { enabled: isKnown });
  const found = deployment.data as { name: string } | undefined;
  if (isKnown && deployment.isLoading) return <ComingName />;
  return (
    <PageLink className={look} to={`/deployments/${id}`}>
      {found?.name ?? id} {version !== null && `v${version}`}
    </PageLink>
  );
}
