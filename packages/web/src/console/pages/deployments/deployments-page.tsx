import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { buttonLook } from '../../parts/button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
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
  const { mode } = useOrgAndMode();
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
    <ResourceList
      actions={create}
      columns={columns}
      empty={{
        icon: 'deployment',
        title: 'No deployments yet',
        text: 'A deployment is one agent: a file with its instructions, its tools and what needs approval. Write the file, or describe the job in an interview.',
        action: <div className="flex flex-wrap gap-2">{create}</div>,
        example: {
          label: 'A minimal service.yaml:',
          code: 'name: hello\ninstructions: Answer in one sentence.',
        },
      }}
      lead={
        mode === 'test'
          ? 'Your agents. Test mode runs the draft version of each.'
          : 'Your agents. Live mode runs the promoted version of each.'
      }
      linkOf={({ id }) => `/deployments/${id}`}
      list={deployments}
      title="Deployments"
    />
  );
}
