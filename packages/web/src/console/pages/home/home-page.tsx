import { useState } from 'react';
import { useAccess } from '../../access/session.ts';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useList, useOne } from '../../data/queries.ts';
import { keep, kept } from '../../kept.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Loaded, Page, Section, Waiting } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Time, usd } from '../../parts/shown.tsx';

const shownDays = 14;

/** Setup, failures and spend. All of it appears at once, so that the layout does not shift. */
export default function HomePage() {
  const { session } = useAccess();
  const { may } = useRole();
  const waiting = useList('interactions.list', {} as never, { limit: 100 });
  const { steps, isLoading } = useSteps();
  const usage = useUsage();
  const failures = useFailures();
  const name = session?.member.name;
  const title = name ? `Hello, ${name}` : 'Hello';
  if (isLoading || waiting.isLoading || usage.isLoading || failures.isLoading) {
    return (
      <Page tabTitle="Home" title={title}>
        <Waiting />
      </Page>
    );
  }
  return (
    <Page tabTitle="Home" title={title}>
      {waiting.rows.length > 0 && (
        <PageLink
          className="mb-6 flex items-center gap-2 rounded-md border border-warn/30 bg-warn-soft px-3 py-2.5 text-warn hover:border-warn"
          to="/inbox"
        >
          <Icon name="inbox" />
          <span className="font-medium">
            {waiting.rows.length}
            {waiting.hasMore ? '+' : ''} {waiting.rows.length === 1 ? 'request is' : 'requests are'} waiting for an
            answer
          </span>
          <Icon className="ml-auto size-4" name="arrow" />
        </PageLink>
      )}
      <Checklist steps={steps} />
      {may('usage.report') && <Spend />}
      <Failures rows={failures.rows} />
    </Page>
  );
}

function useUsage() {
  const { may } = useRole();
  const [from] = lastDays(shownDays);
  return useOne('usage.report', { group_by: 'day', from, limit: 100 } as never, { enabled: may('usage.report') });
}

function Spend() {
  const { mode } = useOrgAndMode();
  const days = lastDays(shownDays);
  const usage = useUsage();
  return (
    <Section actions={<RequestMenu request={usage.request} />} title={`Last ${shownDays} days in ${mode} mode`}>
      <Loaded query={usage}>
        {({ data }) => {
          const byDay = new Map(data.map((row) => [row.key, row]));
          return (
            <div className="grid gap-4 sm:grid-cols-2">
              <DayBars
                days={days.map((day) => ({ day, value: byDay.get(day)?.cost_usd ?? 0 }))}
                label="Spend per day"
                show={usd}
              />
              <DayBars
                days={days.map((day) => ({ day, value: byDay.get(day)?.task_count ?? 0 }))}
                label="Tasks per day"
                show={count}
                tone="good"
              />
            </div>
          );
        }}
      </Loaded>
    </Section>
  );
}

/** UTC days, as in the usage report. */
const lastDays = (many: number) =>
  Array.from({ length: many }, (_, index) =>
    new Date(Date.now() - (many - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );

type Failure = { to: string; what: string; code: string; message: string; at: string };

function useFailures(): { rows: Failure[]; isLoading: boolean } {
  const tasks = useList('tasks.list', { status: 'failed' } as never, { limit: 5 });
  const turns = useList('events.list', { type: 'turn.failed' } as never, { limit: 5 });
  const rows = [
    ...tasks.rows.map(({ id, title, error, updated_at }) => ({
      to: `/tasks/${id}`,
      what: title,
      code: error?.code ?? '',
      message: error?.message ?? '',
      at: updated_at,
    })),
    ...turns.rows.map(({ id, data, created_at }) => {
      const turn = data as { conversation_id?: string; error?: { code: string; message: string } | null };
      return {
        to: `/conversations/${turn.conversation_id ?? id}`,
        what: 'Reply',
        code: turn.error?.code ?? '',
        message: turn.error?.message ?? '',
        at: created_at,
      };
    }),
  ].sort((one, other) => other.at.localeCompare(one.at));
  return { rows, isLoading: tasks.isLoading || turns.isLoading };
}

function Failures({ rows }: { rows: readonly Failure[] }) {
  return (
    <Section title="Recent failures">
      {rows.length === 0 ? (
        <p className="text-quiet">No failures in the last 30 days.</p>
      ) : (
        <ul className="panel divide-y">
          {rows.map(({ to, what, code, message, at }) => (
            <li key={`${to} ${at}`}>
              <PageLink className="flex items-center gap-3 px-3 py-2 hover:bg-muted/50" to={to}>
                <span className="max-w-48 truncate font-medium">{what}</span>
                <span className="min-w-0 grow truncate text-quiet max-sm:hidden">{message}</span>
                <code className="ml-auto font-mono text-danger text-xs">{code}</code>
                <span className="text-quiet text-sm">
                  <Time at={at} />
                </span>
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

type Step = { title: string; hint: string; to: string; search?: Record<string, string>; isDone: boolean };

/** Progress is derived from the org's data. */
function useSteps(): { steps: Step[]; isLoading: boolean } {
  const { may } = useRole();
  const deployments = useList('deployments.list', {}, { limit: 100 });
  const conversations = useList('conversations.list', {}, { limit: 1 });
  const keys = useList('keys.list', {}, { limit: 100, enabled: may('keys.list') });
  const members = useList('members.list', {}, { limit: 5, enabled: may('members.list') });
  // Every org starts with default caps. Only the audit log shows whether someone changed them.
  const limitChanges = useList(
    'auditLog.list',
    { action: 'limits.updated' },
    { limit: 20, enabled: may('auditLog.list') },
  );
  const first = deployments.rows[0];

  const steps: (Step | false)[] = [
    {
      title: 'Write your first agent',
      hint: 'Write one file, or answer a few questions.',
      to: first ? `/deployments/${first.id}` : '/deployments/new',
      isDone: first !== undefined,
    },
    {
      title: 'Talk to it',
      hint: 'In the playground, with a trace of every step.',
      to: '/playground',
      isDone: conversations.rows.length > 0,
    },
    {
      title: 'Promote a version to live',
      hint: 'When its tests pass, or immediately.',
      to: first ? `/deployments/${first.id}/versions` : '/deployments',
      isDone: deployments.rows.some(({ live_version }) => live_version !== null),
    },
    may('keys.list') && {
      title: 'Call it from your app',
      hint: 'From your server, with an API key.',
      to: '/keys',
      isDone: keys.rows.some(({ last_used_at }) => last_used_at !== null),
    },
    may('limits.update') && {
      title: 'Set a cap',
      hint: 'Limit spend per day or month.',
      to: '/limits',
      isDone: limitChanges.rows.some(({ details }) => Object.keys((details.caps as object) ?? {}).length > 0),
    },
    may('members.list') && {
      title: 'Invite a colleague',
      hint: 'As owner, admin or developer.',
      to: '/members',
      isDone: members.rows.length > 1,
    },
  ];
  const isLoading = [deployments, conversations, keys, members, limitChanges].some((query) => query.isLoading);
  return { steps: steps.filter((step) => step !== false), isLoading };
}

/** The setup steps of a new org. */
function Checklist({ steps: shown }: { steps: readonly Step[] }) {
  const [isHidden, setIsHidden] = useState(kept('checklist') === 'hidden');
  const done = shown.filter(({ isDone }) => isDone).length;
  if (isHidden || done === shown.length) return null;
  return (
    <Section
      actions={
        <>
          <span className="figures text-quiet text-sm">
            {done} of {shown.length}
          </span>
          <Button
            look="quiet"
            onClick={() => {
              keep('checklist', 'hidden');
              setIsHidden(true);
            }}
            shape="small"
          >
            Hide
          </Button>
        </>
      }
      title="Getting started"
    >
      <ol className="panel divide-y">
        {shown.map(({ title, hint, to, search, isDone }) => (
          <li key={title}>
            <PageLink
              className="flex items-center gap-3 px-3 py-2.5 hover:bg-muted/50"
              to={to}
              {...(search && { search })}
            >
              <span
                className={`grid size-5 shrink-0 place-items-center rounded-full border ${isDone ? 'border-good bg-good-soft text-good' : 'border-strong-line'}`}
              >
                {isDone && <Icon className="size-3.5" name="check" />}
                <span className="sr-only">{isDone ? 'Done:' : 'To do:'}</span>
              </span>
              <span className={isDone ? 'text-quiet line-through' : 'font-medium'}>{title}</span>
              <span className="ml-auto text-right text-quiet text-sm max-sm:hidden">{hint}</span>
              <Icon className="size-4 text-quiet max-sm:ml-auto" name="chevron" />
            </PageLink>
          </li>
        ))}
      </ol>
    </Section>
  );
}

type DayBarsProps = {
  /** The accessible name of the chart. */
  label: string;
  days: readonly { day: string; value: number }[];
  show: (value: number) => string;
  tone?: 'accent' | 'good';
};

const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayName = (day: string) => shortDay.format(new Date(`${day}T00:00:00Z`));

/** One bar per day, with a table for screen readers. */
function DayBars({ label, days, show, tone = 'accent' }: DayBarsProps) {
  const most = Math.max(...days.map(({ value }) => value), 0);
  const total = days.reduce((sum, { value }) => sum + value, 0);
  return (
    <figure className="panel p-4">
      <figcaption className="flex items-baseline gap-2">
        <span className="eyebrow">{label}</span>
        <span className="figures ml-auto font-semibold text-lg">{show(total)}</span>
      </figcaption>
      <div aria-hidden="true" className="mt-3 flex h-28 items-end gap-[3px]">
        {days.map(({ day, value }) => (
          <span
            className="flex h-full grow items-end rounded-sm hover:bg-muted"
            key={day}
            title={`${dayName(day)}: ${show(value)}`}
          >
            <span
              className={`block w-full rounded-sm ${value === 0 ? 'bg-line' : tone === 'good' ? 'bg-good' : 'bg-accent'}`}
              style={{ height: value === 0 ? 2 : `${Math.max(4, (value / most) * 100)}%` }}
            />
          </span>
        ))}
      </div>
      <div aria-hidden="true" className="figures mt-1 flex justify-between text-quiet text-xs">
        <span>{days[0] && dayName(days[0].day)}</span>
        <span>today</span>
      </div>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {days.map(({ day, value }) => (
            <tr key={day}>
              <th scope="row">{dayName(day)}</th>
              <td>{show(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
