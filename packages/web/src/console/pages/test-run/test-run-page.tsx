import { useParams } from '@tanstack/react-router';
import type { TestRun } from '@vestra/sdk/resources';
import { followTestRun } from '@vestra/sdk/stream';
import { useEffect, useState } from 'react';
import { useOrgAndMode, useRole, whileSignedIn } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { DeploymentLink } from '../../parts/deployment-link.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ModelText } from '../../parts/model-text.tsx';
import { Loaded, Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { duration, Status, Time, Usd } from '../../parts/shown.tsx';

type Result = TestRun['results'][number];

/** A test run with live progress, and the verdicts and transcript of each scenario. */
export default function TestRunPage() {
  const { run: run_id = '' } = useParams({ strict: false }) as { run?: string };
  const run = useOne('testRuns.get', { run_id });
  const isOver = run.data?.finished_at != null;
  const progress = useProgress(run_id, run.data !== undefined && !isOver, () => void run.refetch());
  const { may } = useRole();
  const cancel = useChange('testRuns.cancel', { touches: ['deployments'] });
  const shown = run.data && !isOver && progress ? { ...run.data, ...progress } : run.data;
  return (
    <Page
      above={{ to: '/tests', title: 'Tests' }}
      actions={
        shown &&
        (isOver ? (
          <DeleteButton
            back="/tests"
            fields={{ run_id }}
            loses="The run, its results and its conversations are deleted. A version without another passed run counts as untested. Its cost stays in the usage report."
            noun="test run"
            row="testRuns.delete"
            touches={['deployments']}
          />
        ) : (
          may('testRuns.cancel') && (
            <Button isBusy={cancel.isRunning} look="danger-quiet" onClick={() => cancel.run({ run_id })}>
              <Icon name="stop" /> Cancel
            </Button>
          )
        ))
      }
      request={run.request}
      tabTitle="Test run"
      title={
        <span className="flex flex-wrap items-center gap-2">
          Test run {shown && `of version ${shown.version}`}
          {shown && <Status>{shown.status}</Status>}
        </span>
      }
    >
      {cancel.error && <Fault className="mb-4" error={cancel.error} />}
      <Loaded query={{ ...run, data: shown }}>
        {(found) => (
          <>
            <p className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-1 text-quiet text-sm" role="status">
              <DeploymentLink id={found.deployment_id} version={found.version} />
              <span className="figures">
                {found.counts.passed} of {found.counts.total} passed
              </span>
              {found.counts.failed > 0 && <span className="figures text-danger">{found.counts.failed} failed</span>}
              {found.counts.running + found.counts.queued > 0 && (
                <span className="figures">{found.counts.running + found.counts.queued} remaining</span>
              )}
              <Usd value={found.cost_usd} />
              <Time at={found.created_at} />
              {found.promoted ? (
                <span>promoted its version</span>
              ) : (
                found.promote_on_pass && found.finished_at === null && <span>promotes if all pass</span>
              )}
              <Id>{found.id}</Id>
            </p>
            {found.note && <p className="mb-4 text-warn">{found.note}</p>}
            <ul className="flex flex-col gap-3">
              {found.results.map((result) => (
                <ScenarioResult key={result.scenario_id} result={result} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Page>
  );
}

type Progress = Partial<Pick<TestRun, 'status' | 'counts' | 'note' | 'cost_usd' | 'results'>>;

function useProgress(run_id: string, isGoing: boolean, onEnd: () => void): Progress | null {
  const { org, mode } = useOrgAndMode();
  const [progress, setProgress] = useState<Progress | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onEnd` is a new function on each render.
  useEffect(() => {
    if (!isGoing) return;
    const ending = new AbortController();
    void whileSignedIn(
      async (client) => {
        for await (const { data } of followTestRun(client, run_id, { signal: ending.signal })) {
          if ('test_run' in data) onEnd();
          else setProgress((before) => ({ ...data, results: withChanged(before?.results ?? [], data.results) }));
        }
      },
      { org, mode },
    ).catch(() => onEnd());
    return () => ending.abort();
  }, [run_id, isGoing, org, mode]);
  return progress;
}

/** Each event carries the results that changed since the previous one. */
function withChanged(before: readonly Result[], changed: readonly Result[]): Result[] {
  const now = new Map(changed.map((result) => [result.scenario_id, result]));
  const known = before.map((result) => now.get(result.scenario_id) ?? result);
  return [...known, ...changed.filter(({ scenario_id }) => !before.some((each) => each.scenario_id === scenario_id))];
}

function ScenarioResult({ result }: { result: Result }) {
  const {
    name,
    status,
    criteria,
    must_never,
    transcript,
    conversation_id,
    duration_ms,
    cost_usd,
    error_message,
    error_code,
    judged_by,
    runs,
    flaky,
  } = result;
  const isGoing = status === 'running' || status === 'queued';
  return (
    <li className="panel">
      <details open={status === 'failed' || status === 'error'}>
        <summary className="flex flex-wrap items-center gap-2 px-4 py-2.5">
          <Status>{status}</Status>
          <span className={`font-medium ${isGoing ? 'animate-breathe' : ''}`}>{name}</span>
          {flaky && <Status tone="warn">flaky</Status>}
          {runs.total > 1 && (
            <span className="figures text-quiet text-sm">
              {runs.passed} of {runs.total} runs passed
            </span>
          )}
          <span className="figures ml-auto flex gap-3 text-quiet text-sm">
            {!isGoing && <span>{duration(duration_ms)}</span>}
            <Usd value={cost_usd} />
          </span>
        </summary>
        <div className="border-t px-4 py-3">
          {(error_message ?? error_code) && <p className="mb-3 text-danger">{error_message ?? error_code}</p>}
          <ul className="mb-3 flex flex-col gap-1.5">
            {criteria.map(({ text, met, decided, reason }) => (
              <Line isGood={met} isOpen={!decided} key={text} reason={reason} text={text} />
            ))}
            {must_never.map(({ text, broken, decided, reason }) => (
              <Line isGood={!broken} isOpen={!decided} key={text} reason={reason} text={`Never: ${text}`} />
            ))}
          </ul>
          {transcript.length > 0 && (
            <ol className="flex flex-col gap-2 border-t pt-3">
              {transcript.map(({ role, text }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order.
                <li key={index}>
                  <span className="eyebrow">
                    {role === 'user' ? 'Simulated user' : role === 'agent' ? 'Agent' : 'Task'}
                  </span>
                  {role === 'user' ? (
                    <p className="whitespace-pre-wrap break-words" dir="auto">
                      {text}
                    </p>
                  ) : (
                    <ModelText text={text} />
                  )}
                </li>
              ))}
            </ol>
          )}
          <p className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-quiet text-sm">
            {judged_by && <span>Judged by {judged_by}</span>}
            {conversation_id && (
              <PageLink className="text-accent underline underline-offset-2" to={`/conversations/${conversation_id}`}>
                Open conversation and trace
              </PageLink>
            )}
          </p>
        </div>
      </details>
    </li>
  );
}

function Line({ text, isGood, isOpen, reason }: { text: string; isGood: boolean; isOpen: boolean; reason: string }) {
  return (
    <li className="flex gap-2">
      <Status tone={isOpen ? 'warn' : isGood ? 'good' : 'danger'}>
        {isOpen ? 'undecided' : isGood ? 'met' : 'not met'}
      </Status>
      <span className="min-w-0">
        {text}
        {reason && <span className="block text-quiet text-sm">{reason}</span>}
      </span>
    </li>
  );
}
