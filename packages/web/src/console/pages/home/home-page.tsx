import { useAccess } from '../../access/session.ts';
import { useRole } from '../../data/api.ts';
import { useOne } from '../../data/queries.ts';
import { useFilters } from '../../parts/filters.tsx';
import { useNames } from '../../parts/names.tsx';
import { Loaded, Page, Waiting } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Checklist, useSteps } from './checklist.tsx';
import { Health, periodOf, periods } from './health.tsx';

/** Setup and health. All of it appears at once, so that the layout does not shift. */
export default function HomePage() {
  const { session } = useAccess();
  const { may } = useRole();
  const [filters, set] = useFilters('period', 'deployment');
  const { deployment } = filters;
  const period = periodOf(filters.period);
  const overview = useOne(
    'overview.get',
    { period, ...(deployment && { deployment }) },
    { enabled: may('overview.get') },
  );
  const { steps, isUsed, isLoading } = useSteps();
  const name = session?.member.name;
  const title = name ? `Hello, ${name}` : 'Hello';
  if (isLoading || overview.isLoading) {
    return (
      <Page tabTitle="Home" title={title}>
        <Waiting />
      </Page>
    );
  }
  return (
    <Page
      actions={<Choices deployment={deployment} period={period} set={set} />}
      request={overview.request}
      tabTitle="Home"
      title={title}
    >
      {!isUsed && <Checklist steps={steps} />}
      <Loaded query={overview}>{(data) => <Health data={data} deployment={deployment} />}</Loaded>
      {isUsed && <Checklist steps={steps} />}
    </Page>
  );
}

function Choices({
  period,
  deployment,
  set,
}: {
  period: string;
  deployment: string | undefined;
  set: (changed: { period?: string; deployment?: string | undefined }) => void;
}) {
  const { deployments } = useNames();
  const search = (id: string) => ({ period: id, ...(deployment && { deployment }) });
  return (
    <>
      <select
        aria-label="Deployment"
        className={`control w-auto max-w-48 pr-8 ${deployment ? 'border-accent' : 'text-quiet'}`}
        onChange={(event) => set({ deployment: event.target.value || undefined })}
        value={deployment ?? ''}
      >
        <option value="">All deployments</option>
        {deployments.map(([slug, label]) => (
          <option key={slug} value={slug}>
            {label}
          </option>
        ))}
        {deployment && !deployments.some(([slug]) => slug === deployment) && (
          <option value={deployment}>{deployment}</option>
        )}
      </select>
      <nav aria-label="Period" className="flex h-8 overflow-hidden rounded-md border border-strong-line bg-surface">
        {Object.entries(periods).map(([id, label]) => (
          <PageLink
            aria-current={id === period ? 'page' : undefined}
            className="flex items-center whitespace-nowrap px-2.5 text-quiet hover:text-foreground aria-[current=page]:bg-muted aria-[current=page]:font-medium aria-[current=page]:text-foreground"
            key={id}
            search={search(id)}
            to="/"
          >
            {label}
          </PageLink>
        ))}
      </nav>
    </>
  );
}
