import { usePlace, useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { buttonLook } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status, Time } from '../../parts/shown.tsx';

type Deployment = ItemOf<'deployments.list'>;

const columns: Column<Deployment>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name },
  {
    id: 'slug',
    header: 'Slug',
    isWideOnly: true,
    cell: ({ slug }) => <code className="font-mono text-quiet text-xs">{slug}</code>,
  },
  {
    id: 'live',
    header: 'Live',
    width: '5rem',
    cell: ({ live_version, status }) =>
      status === 'archived' ? (
        <Status>archived</Status>
      ) : live_version === null ? (
        <span className="text-quiet">–</span>
      ) : (
        <Status tone="good">{`v${live_version}`}</Status>
      ),
  },
  {
    id: 'draft',
    header: 'Draft',
    width: '4rem',
    cell: ({ draft_version }) => <Status tone="accent">{`v${draft_version}`}</Status>,
  },
  {
    id: 'updated',
    header: 'Updated',
    width: '6.5rem',
    isWideOnly: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
];

export default function DeploymentsPage() {
  const deployments = useList('deployments.list', {});
  const { may } = useRole();
  const { mode } = usePlace();
  const create = may('deployments.put') && (
    <>
      <PageLink className={buttonLook('plain')} to="/deployments/interview">
        Start an interview
      </PageLink>
      <PageLink className={buttonLook('primary')} to="/deployments/new">
        <Icon name="plus" /> New deployment
      </PageLink>
    </>
  );
  return (
    <Page
      actions={create}
      lead={
        mode === 'test'
          ? 'Your agents. Test mode runs the draft version of each.'
          : 'Your agents. Live mode runs the promoted version of each.'
      }
      request={deployments.request}
      title="Deployments"
    >
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            action={<div className="flex flex-wrap gap-2">{create}</div>}
            example={{
              label: 'A minimal service.yaml:',
              code: 'name: hello\ninstructions: Answer in one sentence.',
            }}
            icon="deployment"
            title="No deployments yet"
          >
            A deployment is one agent: a file with its instructions, its tools and what needs approval. Write the file,
            or describe the job in an interview.
          </EmptyState>
        }
        label="Deployments"
        linkOf={({ id }) => `/deployments/${id}`}
        list={deployments}
      />
    </Page>
  );
}
