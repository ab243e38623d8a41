import { useRef } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { ItemOf, Request, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Loaded } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, percent, Status, Time, type Tone } from '../../parts/shown.tsx';
import { Improvements, NewImprovement } from '../improvement/improvements.tsx';
import { type Deployment, DeploymentFrame } from './deployment-frame.tsx';

type Insight = ItemOf<'insights.list'>;
type Report = RouteAnswer<'insights.list'>;

export default function InsightsTab() {
  return <DeploymentFrame tab="insights">{(deployment) => <Insights deployment={deployment} />}</DeploymentFrame>;
}

/** More groups than a person reads. */
const mostGroups = 100;

const kinds: Readonly<Record<Insight['kind'], { label: string; tone: Tone }>> = {
  failed_reply: { label: 'Failed reply', tone: 'danger' },
  bad_rating: { label: 'Bad rating', tone: 'danger' },
  declined_approval: { label: 'Declined approval', tone: 'warn' },
  expired_question: { label: 'Expired question', tone: 'warn' },
  empty_search: { label: 'Empty search', tone: 'warn' },
  tool_error: { label: 'Tool error', tone: 'danger' },
  repeated_question: { label: 'Repeated question', tone: 'warn' },
  cost_outlier: { label: 'High cost', tone: 'accent' },
  latency_outlier: { label: 'Slow reply', tone: 'accent' },
};

/** The groups of conversations in which the same went wrong. */
function Insights({ deployment }: { deployment: Deployment }) {
  const [{ kind, from, to }, set] = useFilters('kind', 'from', 'to');
  const filters = { ...(kind && { kind }), ...(from && { from }), ...(to && { to }) };
  const { may } = useRole();
  const asking = useDialogInAddress('improve');
  const asked = { deployment_id: deployment.id, ...filters, limit: mostGroups };
  const report = useOne('insights.list', asked as never);
  // A request may cost money, so a double click sends one. The names are stored: the report has them from then on.
  const naming = useChange('insights.list', { retries: 0 });
  const isAsked = useRef(false);
  const nameGroups = async () => {
    if (isAsked.current) return;
    isAsked.current = true;
    // `naming.error` shows a failure.
    await naming.runNow({ ...asked, name_groups: 'true' } as never).catch(() => {});
    isAsked.current = false;
  };
  return (
    <>
      <FilterBar
        filters={filters}
        set={set}
        shown={[
          { name: 'kind', label: 'Kind', options: Object.entries(kinds).map(([name, { label }]) => [name, label]) },
          { name: 'from', label: 'From', type: 'date' },
          { name: 'to', label: 'To', type: 'date' },
        ]}
      />
      <Loaded query={{ ...report, data: report.data as Report | undefined }}>
        {(shown) =>
          shown.data.length === 0 ? (
            <NothingWrong deployment={deployment} report={shown} />
          ) : (
            <Groups
              improve={may('improvements.create') && shown.quoted_conversations !== 'none' ? asking.open : null}
              name={may('insights.list') && may('improvements.create') ? () => void nameGroups() : null}
              naming={naming}
              report={shown}
              request={report.request}
            />
          )
        }
      </Loaded>
      <Improvements deploymentId={deployment.id} />
      {asking.value !== null && (
        <NewImprovement deploymentId={deployment.id} insightId={asking.value} onClose={asking.close} />
      )}
    </>
  );
}

function NothingWrong({
  deployment,
  report: { total_conversations, period },
}: {
  deployment: Deployment;
  report: Report;
}) {
  return (
    <EmptyState
      example={{ label: 'The same in your shell:', code: `vestra insights ${deployment.slug}` }}
      icon={total_conversations === 0 ? 'conversation' : 'check'}
      title={total_conversations === 0 ? 'No conversations in this period' : 'Nothing went wrong in this period'}
    >
      {total_conversations > 0 && `${conversationsOf(total_conversations)} from ${period.from} to ${period.to}. `}
      Failed replies, bad ratings, declined approvals, expired questions, searches without a result, tool errors and
      repeated questions appear here, grouped by cause. From 20 conversations on, so do those that cost or take much
      more than the others.
    </EmptyState>
  );
}

function Groups({
  report,
  request,
  improve,
  name,
  naming,
}: {
  report: Report;
  request: Request;
  name: (() => void) | null;
  naming: { isRunning: boolean; error: Error | null; answer: unknown };
  improve: ((insightId: string) => void) | null;
}) {
  const { data, period, total_conversations, quoted_conversations, is_complete, next_cursor } = report;
  return (
    <>
      <div className="mb-1.5 flex items-center justify-between gap-3 text-quiet text-sm">
        <p>
          {conversationsOf(total_conversations)} from {dayOf(period.from)} to {dayOf(period.to)} (UTC).
          {!is_complete && ' The period has more than one report reads: only the newest are counted.'}
          {hidden[quoted_conversations]}
          {next_cursor !== null && ` Only the ${mostGroups} largest groups are shown.`}
        </p>
        <span className="flex items-center gap-2">
          {name && data.some((insight) => insight.name === null && insight.examples.length > 0) && (
            <Button
              isBusy={naming.isRunning}
              onClick={name}
              shape="small"
              title="A model names up to 20 groups for at most 5 cents."
            >
              Name groups
            </Button>
          )}
          <RequestMenu request={request} />
        </span>
      </div>
      {namesNothing(naming.answer as Report | undefined) && !naming.isRunning && (
        <p className="mb-3 text-quiet text-sm" role="status">
          The model gave no names. Try again later.
        </p>
      )}
      {naming.error && <Fault className="mb-3" error={naming.error} />}
      <ul className="flex flex-col gap-3">
        {data.map((insight, at) => (
          <Group improve={improve} insight={insight} isOpen={at < 3} key={insight.id} />
        ))}
      </ul>
    </>
  );
}

/** The server answers with the groups as they are if the model fails. */
const namesNothing = (named: Report | undefined) => named?.data.every(({ name }) => name === null) === true;

/** Why groups have no words and no examples. */
const hidden: Readonly<Record<Report['quoted_conversations'], string>> = {
  all: '',
  rated: ' The org’s settings hide the words of conversations without a rating.',
  none: ' The org’s settings hide the words of conversations, so nothing here can be improved.',
};

function Group({
  insight,
  isOpen,
  improve,
}: {
  insight: Insight;
  isOpen: boolean;
  improve: ((insightId: string) => void) | null;
}) {
  const { id, kind, title, name, conversations, share, examples, trend } = insight;
  const { label, tone } = kinds[kind];
  return (
    <li className="panel" data-insight={id} data-kind={kind}>
      <div className="flex items-center gap-x-6 gap-y-3 px-4 py-3 max-sm:flex-wrap">
        <div className="min-w-0 flex-1 basis-72">
          <Status tone={tone}>{label}</Status>
          <h2 className="mt-1.5 font-medium leading-snug wrap-anywhere">{name ?? title}</h2>
          {name !== null && <p className="text-quiet text-sm wrap-anywhere">{title}</p>}
        </div>
        <div className="flex items-end gap-5 max-sm:w-full max-sm:justify-between">
          <p className="text-right max-sm:text-left">
            <span className="figures block font-semibold text-lg leading-6">{count(conversations)}</span>
            <span className="text-quiet text-sm">
              {conversations === 1 ? 'conversation' : 'conversations'} · {percent(share)}
            </span>
          </p>
          <Trend events={insight.count} trend={trend} />
        </div>
        {improve && (
          <Button onClick={() => improve(id)} shape="small">
            <Icon name="test" /> Improve
          </Button>
        )}
      </div>
      {examples.length > 0 && (
        <details className="group border-t" open={isOpen}>
          <summary className="flex cursor-pointer list-none items-center gap-1.5 px-4 py-2 text-quiet text-sm hover:text-foreground">
            <Icon className="size-3.5 transition-transform group-open:rotate-90" name="chevron" />
            {examples.length === 1 ? 'Example' : `${examples.length} examples`}
          </summary>
          <ul className="pb-2">
            {examples.map((example) => (
              <li key={`${example.conversation_id} ${example.at}`}>
                <PageLink
                  className="flex items-baseline gap-3 px-4 py-1.5 hover:bg-muted"
                  {...(example.turn_id !== null && { search: { turn: example.turn_id } })}
                  to={`/conversations/${example.conversation_id}`}
                >
                  <span className="min-w-0 flex-1 truncate">
                    {example.excerpt ?? <span className="text-quiet">The text was deleted.</span>}
                  </span>
                  <span className="shrink-0 text-quiet text-sm">
                    <Time at={example.at} />
                  </span>
                </PageLink>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

/** A bar for each day, and the change from the period before. */
function Trend({ events, trend: { days, previous_count } }: { events: number; trend: Insight['trend'] }) {
  const most = Math.max(...days.map((day) => day.count), 1);
  const change = previous_count === null ? 0 : events - previous_count;
  const now = `${count(events)} ${events === 1 ? 'event' : 'events'}`;
  const words = previous_count === null ? now : `${now}, ${count(previous_count)} in the period before`;
  return (
    <div className="w-32" title={words}>
      <div
        aria-label={`${words}. Per day: ${days.map((day) => day.count).join(', ')}.`}
        className="flex h-8 items-end gap-px border-b"
        role="img"
      >
        {days.map((day) => (
          <span
            className="flex-1 rounded-t-xs bg-accent"
            key={day.date}
            style={{ height: `${(100 * day.count) / most}%` }}
          />
        ))}
      </div>
      <p className="figures mt-1 text-right text-quiet text-xs">
        {now}
        {change !== 0 && (
          <span className={change > 0 ? 'text-danger' : 'text-good'}>
            {' '}
            {change > 0 ? '+' : '−'}
            {count(Math.abs(change))}
          </span>
        )}
      </p>
    </div>
  );
}

const ofDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const dayOf = (date: string) => ofDay.format(new Date(date));

const conversationsOf = (total: number) => `${count(total)} ${total === 1 ? 'conversation' : 'conversations'}`;
