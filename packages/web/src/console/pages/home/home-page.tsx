import { useAccess } from '../../access/session.ts';
import { usePlace, useRole } from '../../data/api.ts';
import { useList, useOne } from '../../data/queries.ts';
import { DayBars } from '../../parts/day-bars.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Loaded, Page, Section, Waiting } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Time, usd } from '../../parts/shown.tsx';
import { Checklist, useSteps } from './checklist.tsx';

const shownDays = 14;

/** What to do next, what failed, and what was spent. All of it comes at once: what came later would push the rest down. */
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
  const { mode } = usePlace();
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

/** In UTC, as the usage counts them. */
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
      what: title ?? 'Task',
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
