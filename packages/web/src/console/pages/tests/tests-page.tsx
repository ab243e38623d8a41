import { useEffect, useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useDeploymentOrDefault } from '../../data/default-deployment.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Menu } from '../../parts/menu.tsx';
import { say } from '../../parts/notices.tsx';
import { Page, Section, Waiting } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { Replays } from './replays.tsx';
import { type ScenarioDraft, ScenarioForm } from './scenario-form.tsx';

type Scenario = ItemOf<'scenarios.list'>;
type TestRun = ItemOf<'testRuns.list'>;

/** Scenarios, results by version and replays of a deployment: `?deployment=help`. */
export default function TestsPage() {
  const [{ deployment: chosen }, set] = useFilters('deployment');
  const { deployment, list: deployments } = useDeploymentOrDefault(chosen);
  if (deployments.isLoading) return <Waiting />;
  if (deployments.error) return <Fault error={deployments.error} retry={deployments.refetch} />;
  if (!deployment) {
    return (
      <Page title="Tests">
        <EmptyState icon="test" title="No deployments yet">
          Tests are simulated users with a goal. A judge decides whether the goal was met. Create a deployment first.
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page
      actions={<RunButton deploymentId={deployment.id} />}
      lead="Simulated users with a goal. A judge reviews each conversation. A version can go live when all tests pass."
      title="Tests"
    >
      <label className="mb-5 flex items-center gap-2 text-quiet text-sm">
        Deployment
        <select
          className="control w-auto pr-8 text-foreground"
          onChange={(event) => set({ deployment: event.target.value })}
          value={deployment.slug}
        >
          {deployments.rows.map(({ slug, name }) => (
            <option key={slug} value={slug}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Scenarios deploymentId={deployment.id} key={`scenarios ${deployment.id}`} />
      <Runs deploymentId={deployment.id} key={`runs ${deployment.id}`} />
      <Replays deploymentId={deployment.id} key={`replays ${deployment.id}`} />
    </Page>
  );
}

function RunButton({ deploymentId }: { deploymentId: string }) {
  const { may } = useRole();
  const go = useGo();
  const run = useChange('testRuns.create', { touches: ['deployments'], onDone: ({ id }) => go(`/test-runs/${id}`) });
  return (
    <>
      {run.error && <Fault error={run.error} />}
      <Button
        disabled={!may('testRuns.create')}
        isBusy={run.isRunning}
        look="primary"
        onClick={() => run.run({ deployment_id: deploymentId })}
      >
        <Icon name="play" /> Run all
      </Button>
    </>
  );
}

function Scenarios({ deploymentId: deployment_id }: { deploymentId: string }) {
  const scenarios = useList('scenarios.list', { deployment_id });
  const { may } = useRole();
  const adding = useDialogInAddress('new');
  const editing = useDialogInAddress('scenario');
  const drafting = useDialogInAddress('draft');
  const [removed, setRemoved] = useState<Scenario | null>(null);
  const edited = scenarios.rows.find(({ id }) => id === editing.value);
  return (
    <Section
      actions={
        <>
          {may('scenarios.generate') && (
            <Button onClick={() => drafting.open()} shape="small">
              <Icon name="skill" /> Draft scenarios
            </Button>
          )}
          {may('scenarios.create') && (
            <Button onClick={() => adding.open()} shape="small">
              <Icon name="plus" /> Add scenario
            </Button>
          )}
          <RequestMenu request={scenarios.request} />
        </>
      }
      title="Scenarios"
    >
      {scenarios.isLoading ? (
        <Waiting />
      ) : scenarios.error ? (
        <Fault error={scenarios.error} retry={scenarios.refetch} />
      ) : scenarios.rows.length === 0 ? (
        <EmptyState
          example={{
            label: 'In the deployment file:',
            code: 'tests:\n  - name: greets\n    ask: Say hello and ask what you can do for me.\n    expect: It says what it is for.',
          }}
          icon="test"
          title="No scenarios yet"
        >
          Add a scenario, let Vestra draft some, or write them in the deployment file.
        </EmptyState>
      ) : (
        <ul className="panel divide-y">
          {scenarios.rows.map((scenario) => (
            <li className="flex items-start gap-3 px-3 py-2" key={scenario.id}>
              <div className="min-w-0 grow">
                <p className="font-medium">
                  {scenario.name} {scenario.managed_by === 'file' && <Status>in file</Status>}
                </p>
                <p className="line-clamp-2 text-quiet text-sm">{scenario.goal}</p>
              </div>
              <Menu
                items={[
                  {
                    label: scenario.managed_by === 'file' || !may('scenarios.update') ? 'View' : 'Edit',
                    icon: 'settings',
                    run: () => editing.open(scenario.id),
                  },
                  {
                    label: 'Delete',
                    icon: 'trash',
                    isDanger: true,
                    run: () => setRemoved(scenario),
                    isOff: scenario.managed_by === 'file' || !may('scenarios.delete'),
                  },
                ]}
              >
                <Button aria-label={`Actions for ${scenario.name}`} look="quiet" shape="small">
                  <Icon name="more" />
                </Button>
              </Menu>
            </li>
          ))}
        </ul>
      )}
      {scenarios.hasMore && (
        <Button className="mt-2" isBusy={scenarios.isFetchingMore} onClick={scenarios.more} shape="small">
          More scenarios
        </Button>
      )}
      {adding.value !== null && <ScenarioForm deploymentId={deployment_id} onClose={adding.close} />}
      {edited && <ScenarioForm deploymentId={deployment_id} onClose={editing.close} scenario={edited} />}
      {drafting.value !== null && <DraftedScenarios deploymentId={deployment_id} onClose={drafting.close} />}
      {removed && (
        <ConfirmChange
          act="Delete scenario"
          fields={{ deployment_id, scenario_id: removed.id }}
          loses="Future test runs leave it out. Results of earlier runs are kept."
          notice="Scenario deleted"
          onClose={() => setRemoved(null)}
          row="scenarios.delete"
          title={`Delete ${removed.name}?`}
        />
      )}
    </Section>
  );
}

/** Scenarios by the last run of each version, so that a row shows regressions. */
function Runs({ deploymentId: deployment_id }: { deploymentId: string }) {
  const runs = useList('testRuns.list', { deployment_id }, { limit: 20 });
  if (runs.rows.length === 0) return null;
  const shown = lastOfEachVersion(runs.rows).slice(0, 8).reverse();
  const names = [
    ...new Map(
      runs.rows.flatMap(({ results }) => results.map(({ scenario_id, name }) => [scenario_id, name] as const)),
    ).entries(),
  ];
  return (
    <Section actions={<RequestMenu request={runs.request} />} title="Results by version">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <div className="panel overflow-x-auto" tabIndex={0}>
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b bg-muted/60 text-left">
              <th className="eyebrow px-3 py-2" scope="col">
                Scenario
              </th>
              {shown.map((run) => (
                <th className="px-2 py-2 text-center font-medium" key={run.id} scope="col">
                  <PageLink className="text-accent underline underline-offset-2" to={`/test-runs/${run.id}`}>
                    v{run.version}
                  </PageLink>
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y">
            {names.map(([id, name]) => (
              <tr key={id}>
                <th className="max-w-56 truncate px-3 py-1.5 text-left font-normal" scope="row">
                  {name}
                </th>
                {shown.map((run, at) => (
                  <td className="px-2 py-1.5 text-center" key={run.id}>
                    <Verdict before={resultIn(shown[at - 1], id)?.status} result={resultIn(run, id)} />
                  </td>
                ))}
              </tr>
            ))}
            <tr className="text-quiet">
              <th className="px-3 py-1.5 text-left font-normal" scope="row">
                {' '}
                Time{' '}
              </th>
              {shown.map((run) => (
                <td className="px-2 py-1.5 text-center" key={run.id}>
                  <Time at={run.created_at} />
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
    </Section>
  );
}

type Result = TestRun['results'][number];

const resultIn = (run: TestRun | undefined, scenarioId: string): Result | undefined =>
  run?.results.find(({ scenario_id }) => scenario_id === scenarioId);

/** The newest run of each version. Runs are sorted newest first. */
const lastOfEachVersion = (runs: readonly TestRun[]): TestRun[] =>
  runs
    .filter(({ version }, at) => runs.findIndex((other) => other.version === version) === at)
    .toSorted((a, b) => b.version - a.version);

/** A status with the change since the previous version. */
function Verdict({ result, before }: { result: Result | undefined; before: Result['status'] | undefined }) {
  if (!result) return <span className="text-quiet">–</span>;
  const { status, flaky, runs } = result;
  const isBetter = status === 'passed' && (before === 'failed' || before === 'error');
  const isWorse = status === 'failed' && before === 'passed';
  return (
    <>
      <Status>{status}</Status>
      {flaky && (
        <span className="figures ml-1 text-warn text-xs">
          flaky {runs.passed}/{runs.total}
        </span>
      )}
      {isBetter && <span className="ml-1 text-good text-xs">better</span>}
      {isWorse && <span className="ml-1 text-danger text-xs">worse</span>}
    </>
  );
}

/** Scenarios drafted by a model. Only the selected ones are saved. */
function DraftedScenarios({ deploymentId: deployment_id, onClose }: { deploymentId: string; onClose: () => void }) {
  const generate = useChange('scenarios.generate');
  const create = useChange('scenarios.create');
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [error, setError] = useState<Error | null>(null);
  const drafts = (generate.answer?.data ?? []) as ScenarioDraft[];
  // biome-ignore lint/correctness/useExhaustiveDependencies: drafts are requested once, when the dialog opens.
  useEffect(() => generate.run({ deployment_id } as never), []);
  const add = async () => {
    setError(null);
    try {
      for (const at of chosen) await create.runNow({ deployment_id, ...drafts[at] } as never);
      say(chosen.size === 1 ? 'Scenario added' : `${chosen.size} scenarios added`);
      onClose();
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <Dialog
      description="Drafted from the newest version. Choose which ones to add."
      isOpen
      onClose={onClose}
      title="Drafted scenarios"
      width="wide"
    >
      {generate.isRunning && <Waiting what="Drafting" />}
      {generate.error && <Fault error={generate.error} retry={() => generate.run({ deployment_id } as never)} />}
      <ul className="flex flex-col gap-2">
        {drafts.map((draft, at) => (
          <li key={draft.name}>
            <label className="panel flex gap-3 p-3">
              <input
                checked={chosen.has(at)}
                className="mt-1 size-4 shrink-0 accent-accent"
                onChange={(event) => {
                  const next = new Set(chosen);
                  if (event.target.checked) next.add(at);
                  else next.delete(at);
                  setChosen(next);
                }}
                type="checkbox"
              />
              <span className="min-w-0">
                <span className="block font-medium">{draft.name}</span>
                <span className="block text-quiet text-sm">{draft.goal}</span>
                <span className="block text-sm">Expects: {draft.success_criteria.join(' · ')}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {error && <Fault className="mt-3" error={error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button disabled={chosen.size === 0} isBusy={create.isRunning} look="primary" onClick={() => void add()}>
          Add {chosen.size || ''}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
