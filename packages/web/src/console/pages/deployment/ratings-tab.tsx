import { useList, useOne } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { Loaded, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Status, Time } from '../../parts/shown.tsx';
import { type Deployment, DeploymentFrame } from './deployment-frame.tsx';

type Said = ItemOf<'feedback.list'>;

export default function RatingsTab() {
  return <DeploymentFrame tab="ratings">{(deployment) => <Ratings deployment={deployment} />}</DeploymentFrame>;
}

/** Ratings by version, and each rating with its conversation. */
function Ratings({ deployment }: { deployment: Deployment }) {
  const deployment_id = deployment.id;
  const [{ rating, version }, set] = useFilters('rating', 'version');
  const counts = useOne('feedback.counts', { deployment_id });
  const said = useList('feedback.list', { deployment_id, rating, version } as never);
  return (
    <>
      <Section actions={<RequestMenu request={counts.request} />} title="By version">
        <Loaded query={counts}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState
                example={{
                  label: 'Rate a reply from the command line:',
                  code: `vestra feedback rate <conversation id> <message id> --rating good`,
                }}
                icon="thumb"
                title="No ratings yet"
              >
                Users rate replies on the session page, members in the console, and programs through the API. Each
                rating counts for the version that answered.
              </EmptyState>
            ) : (
              <ul className="panel divide-y">
                {data.map((line) => (
                  <Counted deployment={deployment} key={line.version} line={line} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      {(counts.data?.data.length ?? 0) > 0 && (
        <Section actions={<RequestMenu request={said.request} />} title="Ratings">
          <FilterBar
            filters={{ ...(rating && { rating }), ...(version && { version }) }}
            set={set}
            shown={[
              { name: 'rating', label: 'Rating', options: ['good', 'bad'] },
              {
                name: 'version',
                label: 'Version',
                options: (counts.data?.data ?? []).map((line) => String(line.version)),
              },
            ]}
          />
          <DataTable
            columns={columns}
            empty={<p className="text-quiet">No ratings match these filters.</p>}
            label="Ratings"
            linkOf={({ conversation_id }) => `/conversations/${conversation_id}`}
            list={said}
          />
        </Section>
      )}
    </>
  );
}

type Line = { version: number; good: number; bad: number };

function Counted({ deployment, line: { version, good, bad } }: { deployment: Deployment; line: Line }) {
  const share = Math.round((100 * good) / (good + bad));
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2" data-version={version}>
      <span className="flex w-36 items-center gap-2">
        <PageLink
          className="figures font-medium underline-offset-2 hover:underline"
          search={{ version: String(version) }}
          to={`/deployments/${deployment.id}/ratings`}
        >
          v{version}
        </PageLink>
        {version === deployment.live_version && <Status>live</Status>}
        {version === deployment.draft_version && <Status>draft</Status>}
      </span>
      <span aria-hidden="true" className="flex h-2 min-w-24 flex-1 overflow-hidden rounded-full bg-danger/60">
        <span className="bg-good" style={{ width: `${share}%` }} />
      </span>
      <span className="figures text-sm max-sm:w-full sm:w-48 sm:text-right">
        {count(good)} good, {count(bad)} bad · {share}%
      </span>
    </li>
  );
}

const raters = { user: 'user', member: 'member', key: 'program' } as const;

const columns: Column<Said>[] = [
  {
    id: 'rating',
    header: 'Rating',
    width: '4rem',
    cell: ({ rating }) => <Status tone={rating === 'good' ? 'good' : 'danger'}>{rating}</Status>,
  },
  {
    id: 'note',
    header: 'Comment',
    width: '2fr',
    cell: ({ note }) => (note === null ? <span className="text-quiet">no note</span> : note),
  },
  {
    id: 'rater',
    header: 'By',
    isWideOnly: true,
    cell: ({ rater }) => (
      <span className="text-quiet">
        {raters[rater.type]} {rater.type === 'user' && rater.id}
      </span>
    ),
  },
  {
    id: 'version',
    header: 'Version',
    width: '4.5rem',
    isWideOnly: true,
    cell: ({ deployment_version }) => `v${deployment_version}`,
  },
  { id: 'at', header: 'Time', width: '6rem', cell: ({ updated_at }) => <Time at={updated_at} /> },
];
