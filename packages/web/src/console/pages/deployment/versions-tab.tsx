import { Suspense, useState } from 'react';
import { stringify } from 'yaml';
import { useList, useOne } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Loaded, Section, Waiting } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Status, Time, type Tone } from '../../parts/shown.tsx';
import { type Deployment, DeploymentFrame } from './deployment-frame.tsx';
import { PromoteButton } from './promote-button.tsx';

const Diff = lazyPart(() => import('../../parts/editor/diff.tsx'));

type Version = ItemOf<'deployments.listVersions'>;

export default function VersionsTab() {
  return <DeploymentFrame tab="versions">{(deployment) => <Versions deployment={deployment} />}</DeploymentFrame>;
}

/** All versions, and a comparison of two of them: `?from=3&to=5`. */
function Versions({ deployment }: { deployment: Deployment }) {
  const deployment_id = deployment.id;
  const versions = useList('deployments.listVersions', { deployment_id });
  const [{ from, to }, setCompared] = useFilters('from', 'to');
  const newest = versions.rows[0]?.version;
  const right = to ?? (newest === undefined ? undefined : String(newest));
  const left = from ?? (right === undefined || right === '1' ? undefined : String(Number(right) - 1));
  if (versions.isLoading) return <Waiting />;
  if (versions.error) return <Fault error={versions.error} retry={versions.refetch} />;
  return (
    <div className="grid gap-6 *:min-w-0 lg:grid-cols-[19rem_minmax(0,1fr)]">
      <div>
        <ol aria-label="Versions" className="panel max-h-[75dvh] divide-y overflow-y-auto">
          {versions.rows.map((version) => (
            <li
              className={`px-3 py-2 ${String(version.version) === right ? 'bg-muted shadow-[inset_3px_0_var(--accent)]' : 'hover:bg-muted'}`}
              key={version.version}
            >
              <button
                className="block w-full text-left"
                onClick={() => setCompared({ from: undefined, to: String(version.version) })}
                type="button"
              >
                <span className="flex items-center gap-2">
                  <span className="figures font-medium">v{version.version}</span>
                  {version.is_live && <Status>live</Status>}
                  {version.is_draft && <Status>draft</Status>}
                  {version.tests && <Status>{version.tests.status}</Status>}
                  <span className="ml-auto text-quiet text-sm">
                    <Time at={version.created_at} />
                  </span>
                </span>
                <span className="block truncate text-quiet text-sm">
                  {version.note ??
                    (version.changed.length > 0 ? `changed ${version.changed.join(', ')}` : 'first version')}{' '}
                  · {version.created_by.name}
                </span>
              </button>
            </li>
          ))}
        </ol>
        {versions.hasMore && (
          <Button className="mt-2 w-full" isBusy={versions.isFetchingMore} onClick={versions.more}>
            Older versions
          </Button>
        )}
      </div>
      {right !== undefined && (
        <Compared
          deployment={deployment}
          left={left}
          right={right}
          setCompared={setCompared}
          versions={versions.rows}
        />
      )}
    </div>
  );
}

type ComparedProps = {
  deployment: Deployment;
  left: string | undefined;
  right: string;
  versions: readonly Version[];
  setCompared: (changed: { from?: string | undefined; to?: string | undefined }) => void;
};

function Compared({ deployment, left, right, versions, setCompared }: ComparedProps) {
  const deployment_id = deployment.id;
  const after = useOne('deployments.getVersion', { deployment_id, version: right } as never);
  const before = useOne('deployments.getVersion', { deployment_id, version: left ?? right } as never);
  const shown = versions.find(({ version }) => String(version) === right);
  return (
    <Section
      actions={
        <>
          <PromoteButton deployment={deployment} version={Number(right)} />
          <RequestMenu request={after.request} />
        </>
      }
      title={
        <span className="flex flex-wrap items-center gap-2">
          <select
            aria-label="Compare with"
            className="control w-auto pr-8"
            onChange={(event) => setCompared({ from: event.target.value, to: right })}
            value={left ?? right}
          >
            {versions.map(({ version }) => (
              <option key={version} value={version}>
                v{version}
              </option>
            ))}
          </select>
          → v{right}
        </span>
      }
    >
      {shown?.tests && <LastRun key={shown.tests.run_id} runId={shown.tests.run_id} />}
      {shown && shown.missing.length > 0 && (
        <p className="mb-2 text-warn">Some of its notebooks or skills have been deleted. It cannot run without them.</p>
      )}
      <Loaded query={after}>
        {(one) => (
          <Loaded query={before}>
            {(other) => (
              <Suspense fallback={<Waiting />}>
                <Diff
                  after={asYaml(one)}
                  before={left === undefined ? '' : asYaml(other)}
                  labels={[left === undefined ? 'Empty' : `Version ${left}`, `Version ${right}`]}
                />
              </Suspense>
            )}
          </Loaded>
        )}
      </Loaded>
      {left !== undefined && left !== right && <ContentChanges deploymentId={deployment_id} from={left} to={right} />}
    </Section>
  );
}

/** The test result of a version, with the first error. */
function LastRun({ runId }: { runId: string }) {
  const run = useOne('testRuns.get', { run_id: runId });
  if (!run.data) return null;
  const { status, counts, results, note } = run.data;
  const why = results.find(({ error_message }) => error_message)?.error_message ?? note;
  return (
    <p className="mb-2 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm" role="status">
      <Status>{status}</Status>
      <PageLink className="text-accent underline underline-offset-2" to={`/test-runs/${runId}`}>
        {counts.passed} of {counts.total} tests passed
      </PageLink>
      {why && <span className="text-warn">{why}</span>}
    </p>
  );
}

/** The manifest. Documents and skills are compared separately. */
const asYaml = (version: unknown) => stringify((version as Version).manifest, { lineWidth: 100, sortMapEntries: true });

type Change = RouteAnswer<'deployments.contentChanges'>['changes'][number];

const tones: Readonly<Record<Change['change'], Tone>> = { added: 'good', removed: 'danger', changed: 'accent' };

/** Changes of documents and skills between two versions. */
function ContentChanges({ deploymentId, from, to }: { deploymentId: string; from: string; to: string }) {
  const fields = { deployment_id: deploymentId, version: to, from };
  const changes = useOne('deployments.contentChanges', fields as never);
  return (
    <Section actions={<RequestMenu request={changes.request} />} className="mt-6" title="Documents and skills">
      <Loaded query={changes}>
        {({ changes: found, left_out }) => (
          <>
            {found.length === 0 && <p className="text-quiet">No differences.</p>}
            <ul className="flex flex-col gap-2" data-content-changes="">
              {found.map((change, at) => (
                <OneChange
                  change={change}
                  isOpenFirst={at === 0}
                  // biome-ignore lint/suspicious/noArrayIndexKey: a notebook may have several documents with the same title.
                  key={`${from} ${to} ${at}`}
                  labels={[`Version ${from}`, `Version ${to}`]}
                />
              ))}
            </ul>
            {left_out > 0 && <p className="mt-2 text-quiet">{count(left_out)} more are not shown.</p>}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function OneChange({
  change,
  labels,
  isOpenFirst,
}: {
  change: Change;
  labels: [string, string];
  isOpenFirst: boolean;
}) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  return (
    <li className="panel overflow-hidden">
      <button
        aria-expanded={isOpen}
        className="flex w-full flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2 text-left hover:bg-muted/60"
        onClick={() => setIsOpen(!isOpen)}
        type="button"
      >
        <Icon className={`size-4 text-quiet ${isOpen ? 'rotate-90' : ''}`} name="chevron" />
        <span className="min-w-0 break-all font-medium">{change.name}</span>
        <Status tone={tones[change.change]}>{change.change}</Status>
        <span className="ml-auto flex min-w-0 items-center gap-1 text-quiet text-sm">
          <Icon name={change.kind === 'document' ? 'book' : 'skill'} />
          <span className="truncate">{change.of_name}</span>
        </span>
      </button>
      {isOpen && (
        <div className="border-t p-3">
          {change.text_left_out ? (
            <p className="text-quiet">The changes are too large to show all texts. This one is omitted.</p>
          ) : (
            <Suspense fallback={<Waiting />}>
              <Diff after={change.after ?? ''} before={change.before ?? ''} isYaml={false} labels={labels} />
            </Suspense>
          )}
        </div>
      )}
    </li>
  );
}
