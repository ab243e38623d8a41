import { useRole } from '../data/api.ts';
import { useOne } from '../data/queries.ts';
import { PageLink } from './page-link.tsx';

const look = 'text-accent underline underline-offset-2 wrap-anywhere';

/** A link to a deployment, with an optional version. */
export function DeploymentLink({ id, version = null }: { id: string; version?: number | null }) {
  const { may } = useRole();
  const isKnown = may('deployments.get');
  const deployment = useOne('deployments.get', { deployment_id: id } as never, { enabled: isKnown });
  const found = deployment.data as { name: string } | undefined;
  // An id that turns into a name would move the text around it.
  if (isKnown && deployment.isLoading)
    return <span className="inline-block h-4 w-28 rounded-sm bg-muted align-middle" />;
  return (
    <PageLink className={look} to={`/deployments/${id}`}>
      {found?.name ?? id} {version !== null && `v${version}`}
    </PageLink>
  );
}
