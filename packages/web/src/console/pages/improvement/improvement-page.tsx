import { useParams } from '@tanstack/react-router';
import { useRole } from '../../data/api.ts';
import { useEvery } from '../../data/every.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Loaded, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';

import { duration, percent, Status, Time, Usd } from '../../parts/shown.tsx';

import { PromoteButton } from '../deployment/promote-button.tsx';
import { outcomeTones } from './improvements.tsx';
import { ProposedChange } from './proposed-change.tsx';
import { Evidence } from './scenario-evidence.tsx';

type Improvement = RouteAnswer<'improvements.get'>;

export default function ImprovementPage() {
  const { improvement: improvement_id } = useParams({ strict: false }) as { improvement: string };
  const improvement = useOne('improvements.get', { improvement_id });
  const { may } = useRole();
  const shown = improvement.data;
  const isOver = shown?.finished_at != null;
  // Only its end is an event, so the progress is polled.
  useEvery(2000, shown !== undefined && !isOver, () => void improvement.refetch());
  const cancel = useChange('improvements.cancel');
  return (
    <Page
      above={
        shown
          ? { to: `/deployments/${shown.deployment_id}/insights`, title: 'Insights' }
          : { to: '/deployments', title: 'Deployments' }
      }
      actions={
        shown &&
        (isOver ? (
          <Promote improvement={shown} />
        ) : (
          may('improvements.cancel') && (
            <Button isBusy={cancel.isRunning} look="danger-quiet" onClick={() => cancel.run({ improvement_id })}>
              <Icon name="stop" /> Cancel
            </Button>
          )
        ))
      }
      lead="A change that was proposed from real failures and played before and after. Nothing goes live until you promote it."
      request={improvement.request}
      tabTitle="Improvement"
      title={
        <span className="flex flex-wrap items-center gap-2">
          Improvement {shown && `of version ${shown.base_version}`}
          {shown && <Status>{shown.status}</Status>}
        </span>
      }
    >
      {cancel.error && <Fault className="mb-4" error={cancel.error} />}
      {shown && isOver && <Outdated improvement={shown} />}
      <Loaded query={improvement}>{(found) => <Report improvement={found} />}</Loaded>
    </Page>
  );
}

/** A proposed version that nobody promotes runs nowhere, so leaving it discards it. */
function Promote({ improvement: { deployment_id, version, outcome } }: { improvement: Improvement }) {
  const deployment = useOne('deployments.get', { deployment_id }, { enabled: version !== null });
  if (version === null || !deployment.data) return null;
  return (
    <>
      <PageLink
        className="text-quiet text-sm underline underline-offset-2"
        to={`/deployments/${deployment.data.slug}/insights`}
      >
        Discard
      </PageLink>
      <PromoteButton
        deployment={deployment.data}
        look={outcome === 'improved' ? 'primary' : 'plain'}
        version={version}
      />
    </>
  );
}

/** A version that was promoted or rolled back meanwhile is not what the proposal was compared with. */
function Outdated({ improvement: { deployment_id, base_version, version, mode } }: { improvement: Improvement }) {
  const { data } = useOne('deployments.get', { deployment_id }, { enabled: version !== null });
  const current = mode === 'live' ? data?.live_version : data?.draft_version;
  if (version === null || current == null || current === base_version || current === version) return null;
  return (
    <p className="mb-4 flex flex-wrap items-center gap-2 text-sm">
      <Status tone="warn">outdated</Status>
      Version {current} runs now, and this proposal changes version {base_version}. Compare them before you promote it.
    </p>
  );
}

const sentences: Record<NonNullable<Improvement['outcome']>, string> = {
  improved: 'The proposed version fixes failures, and nothing else got worse.',
  not_reproduced: 'No scenario failed on the current version, so there is nothing to fix.',
  not_fixed: 'No proposal fixed a failure. Below is why.',
  regressed: 'Every proposal broke something that worked before.',
  budget_reached: 'The budget was used up before the proof was complete.',
};

const phases: Partial<Record<Improvement['status'], string>> = {
  queued: 'Waiting to start.',
  reproducing: 'Drafting scenarios from the conversations, and playing them with the current version.',
  proposing: 'Asking the model for a change.',
  proving: 'Playing all scenarios and recent good conversations with the proposed version.',
  cancelled: 'Cancelled. The results so far are below.',
};

function Report({ improvement }: { improvement: Improvement }) {
  const { outcome, status, error_code, change, version, base_version, regressions, not_fixed, flags } = improvement;
  return (
    <>
      <p className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-1 text-quiet text-sm" role="status">
        {outcome && <Status tone={outcomeTones[outcome]}>{outcome}</Status>}
        <span className="text-foreground">{outcome ? sentences[outcome] : phases[status]}</span>
        {error_code && <span className="text-danger">{error_code}</span>}
        <span>
          <Usd value={improvement.cost_usd} /> of <Usd value={improvement.budget_usd} />
        </span>
        <Time at={improvement.created_at} />
        <Id>{improvement.id}</Id>
      </p>
      <Measured improvement={improvement} />
      {change && version !== null && (
        <Section title={`Change in version ${version}`}>
          <ProposedChange change={change} labels={[`Version ${base_version}`, `Version ${version}`]} />
        </Section>
      )}
      <Evidence improvement={improvement} />
      <Reasons
        rows={regressions.map((each) => ({ ...each, key: each.scenario_id ?? each.conversation_id ?? each.reason }))}
        title="Worked before and fails now"
      />
      <Reasons rows={not_fixed.map((each) => ({ ...each, key: each.scenario_id }))} title="Not fixed" />
      {flags.length > 0 && (
        <Section title="Look at these">
          <ul className="panel divide-y">
            {flags.map(({ conversation_id, reason }) => (
              <li className="flex flex-wrap items-center gap-3 px-4 py-2.5" key={`${conversation_id} ${reason}`}>
                <Status tone="warn">{reason}</Status>
                <span>{flagged[reason]}</span>
                {conversation_id && (
                  <PageLink
                    className="ml-auto text-accent underline underline-offset-2"
                    to={`/conversations/${conversation_id}`}
                  >
                    Conversation
                  </PageLink>
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

const flagged: Record<Improvement['flags'][number]['reason'], string> = {
  steering: 'A user tried to change the agent. The text changed nothing.',
  address: 'A proposal contained a link or an address that the deployment does not have. It was refused.',
  outside_limits: 'A proposal tried to change something that it may not. It was refused.',
};

/** Both versions in one table. */
function Measured({ improvement: { before, after } }: { improvement: Improvement }) {
  const sides = [
    ['Before', before],
    ['After', after],
  ] as const;
  if (!before) return null;
  return (
    <div className="panel mb-6 overflow-x-auto">
      <table className="w-full text-left sm:whitespace-nowrap">
        <thead>
          <tr className="border-b text-quiet text-sm">
            {['Version', 'Passed', 'Cost per conversation', 'Time per reply', 'Evidence'].map((head) => (
              <th className="px-2 py-2 sm:px-4 font-normal" key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sides.flatMap(([name, side]) =>
            side ? (
              <tr className="border-b last:border-0" key={name}>
                <th className="px-2 py-2 sm:px-4 font-medium" scope="row">
                  {name} · version {side.version}
                </th>
                <td className="figures px-2 py-2 sm:px-4">
                  {side.passed} of {side.runs}
                  {side.pass_rate !== null && ` (${percent(side.pass_rate)})`}
                </td>
                <td className="px-2 py-2 sm:px-4">{side.cost_usd === null ? '–' : <Usd value={side.cost_usd} />}</td>
                <td className="figures px-2 py-2 sm:px-4">
                  {side.latency_ms === null ? '–' : duration(side.latency_ms)}
                </td>
                <td className="px-2 py-2 sm:px-4">
                  <span className="flex flex-wrap gap-3">
                    {side.test_run_ids.map((id, at) => (
                      <PageLink className="text-accent underline underline-offset-2" key={id} to={`/test-runs/${id}`}>
                        {at === 0 ? 'Test run' : `Test run ${at + 1}`}
                      </PageLink>
                    ))}
                  </span>
                </td>
              </tr>
            ) : (
              []
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Reasons({
  title,
  rows,
}: {
  title: string;
  rows: readonly { key: string; name: string | null; reason: string; conversation_id?: string | null }[];
}) {
  if (rows.length === 0) return null;
  return (
    <Section title={title}>
      <ul className="panel divide-y">
        {rows.map(({ key, name, reason, conversation_id }) => (
          <li className="px-4 py-2.5" key={key}>
            <p className="font-medium">{name ?? 'A conversation'}</p>
            <p className="text-quiet wrap-anywhere">{reason}</p>
            {conversation_id && (
              <PageLink
                className="text-accent text-sm underline underline-offset-2"
                to={`/conversations/${conversation_id}`}
              >
                Conversation
              </PageLink>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
