import { useMemo } from 'react';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { count, Status, type Tone } from '../../parts/shown.tsx';
import { dayInWords, dayOf, isMonth, monthBeside, monthInWords, weeksOf } from './month.ts';
import type { RoutineRun } from './runs.ts';

const words: Readonly<Record<RoutineRun['state'], { one: string; tone: Tone; dot: string }>> = {
  ran: { one: 'ran', tone: 'good', dot: 'bg-good' },
  failed: { one: 'failed', tone: 'danger', dot: 'bg-danger' },
  missed: { one: 'did not start', tone: 'warn', dot: 'bg-warn' },
  coming: { one: 'scheduled', tone: 'quiet', dot: 'border border-strong-line' },
};
const states = Object.keys(words) as RoutineRun['state'][];
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

type RunCalendarProps = {
  runs: readonly RoutineRun[];
  timezone: string;
  error: Error | null;
  /** Hides routine names on the page of one routine. */
  isOfOne?: boolean;
};

/** On the page of one routine, the calendar is part of a section. */
const headingOf = (isOfOne: boolean) => (isOfOne ? 'h3' : 'h2');

/** A month of past and scheduled runs: `?month=2026-11&day=2026-11-16`. A selected day lists its runs. */
export function RunCalendar({ runs, timezone, error, isOfOne = false }: RunCalendarProps) {
  const [filters, setFilters] = useFilters('month', 'day', 'user_id', 'show');
  const today = dayOf(new Date(), timezone);
  const month = isMonth(filters.month) ? filters.month : today.slice(0, 7);
  const byDay = useMemo(() => {
    const days = new Map<string, RoutineRun[]>();
    for (const run of [...runs].sort((a, b) => a.at.getTime() - b.at.getTime())) {
      const day = dayOf(run.at, timezone);
      days.set(day, [...(days.get(day) ?? []), run]);
    }
    return days;
  }, [runs, timezone]);
  const chosen = filters.day ?? (month === today.slice(0, 7) ? today : `${month}-01`);
  const turn = (to: string) => setFilters({ month: to === today.slice(0, 7) ? undefined : to, day: undefined });
  const Heading = headingOf(isOfOne);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <Heading className="font-medium" aria-live="polite">
          {monthInWords(month)}
        </Heading>
        <span className="text-quiet text-sm">{timezone}</span>
        <span className="ml-auto flex gap-1">
          <Button aria-label="Previous month" onClick={() => turn(monthBeside(month, -1))} shape="icon">
            <Icon name="back" />
          </Button>
          <Button onClick={() => turn(today.slice(0, 7))}>Today</Button>
          <Button aria-label="Next month" onClick={() => turn(monthBeside(month, 1))} shape="icon">
            <Icon name="chevron" />
          </Button>
        </span>
      </div>
      {error && <Fault className="mb-3" error={error} />}
      <table className="panel w-full table-fixed border-separate border-spacing-0 overflow-hidden" data-calendar="">
        <caption className="sr-only">Runs in {monthInWords(month)}</caption>
        <thead>
          <tr>
            {weekdays.map((name) => (
              <th className="eyebrow border-b bg-muted/60 px-2 py-1 text-left" key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td className="h-16 border-b p-0 align-top sm:h-24 [&:not(:last-child)]:border-r" key={day}>
                  <Day
                    day={day}
                    isChosen={day === chosen}
                    isOfOne={isOfOne}
                    isOutside={!day.startsWith(month)}
                    isToday={day === today}
                    onChoose={() => setFilters({ day })}
                    runs={byDay.get(day) ?? []}
                    timezone={timezone}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-quiet text-sm">
        {states.map((state) => (
          <span className="flex items-center gap-1.5" key={state}>
            <span aria-hidden="true" className={`size-2 rounded-full ${words[state].dot}`} /> {words[state].one}
          </span>
        ))}
      </p>
      <RunsOfDay day={chosen} isOfOne={isOfOne} runs={byDay.get(chosen) ?? []} timezone={timezone} />
    </div>
  );
}

type DayProps = {
  day: string;
  runs: readonly RoutineRun[];
  timezone: string;
  isChosen: boolean;
  isToday: boolean;
  isOutside: boolean;
  isOfOne: boolean;
  onChoose: () => void;
};

const shownInDay = 3;

function Day({ day, runs, timezone, isChosen, isToday, isOutside, isOfOne, onChoose }: DayProps) {
  const sums = states.flatMap((state) => {
    const many = runs.filter((run) => run.state === state).length;
    return many === 0 ? [] : [`${count(many)} ${words[state].one}`];
  });
  return (
    <button
      aria-pressed={isChosen}
      className={`flex size-full flex-col items-stretch overflow-hidden p-1 text-left hover:bg-muted/60 aria-pressed:bg-accent-soft sm:p-1.5 ${isOutside ? 'text-quiet' : ''}`}
      onClick={onChoose}
      type="button"
    >
      <span className="sr-only">
        {dayInWords(day)}: {sums.join(', ') || 'no runs'}
      </span>
      <span aria-hidden="true" className={`figures text-xs ${isToday ? 'font-bold text-accent' : ''}`}>
        {Number(day.slice(8))}
      </span>
      <span aria-hidden="true" className="mt-1 flex flex-wrap gap-0.5 sm:hidden">
        {runs.slice(0, 8).map((run) => (
          <span className={`size-1.5 rounded-full ${words[run.state].dot}`} key={run.key} />
        ))}
      </span>
      <span aria-hidden="true" className="flex flex-col max-sm:hidden">
        {runs.slice(0, shownInDay).map((run) => (
          <span className="flex min-w-0 items-center gap-1 text-xs leading-5" key={run.key}>
            <span className={`size-1.5 shrink-0 rounded-full ${words[run.state].dot}`} />
            <span className="figures">{clock(run.at, timezone)}</span>
            {!isOfOne && <span className="truncate">{run.routine.name}</span>}
          </span>
        ))}
        {runs.length > shownInDay && <span className="text-quiet text-xs">{count(runs.length - shownInDay)} more</span>}
      </span>
    </button>
  );
}

const listedOfDay = 100;

function RunsOfDay({
  day,
  runs,
  timezone,
  isOfOne,
}: {
  day: string;
  runs: readonly RoutineRun[];
  timezone: string;
  isOfOne: boolean;
}) {
  const Heading = headingOf(isOfOne);
  return (
    <div className="mt-4">
      <Heading className="mb-1.5 font-medium">{dayInWords(day)}</Heading>
      {runs.length === 0 ? (
        <p className="text-quiet">No runs on this day.</p>
      ) : (
        <ol className="panel divide-y" data-runs-of-day="">
          {runs.slice(0, listedOfDay).map(({ key, at, routine, state, conversationId, message }) => (
            <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5" key={key}>
              <time className="figures" dateTime={at.toISOString()}>
                {clock(at, timezone)}
              </time>
              {!isOfOne && (
                <PageLink
                  className="min-w-0 truncate text-accent underline underline-offset-2"
                  to={`/routines/${routine.id}`}
                >
                  {routine.name}
                </PageLink>
              )}
              <Status tone={words[state].tone}>{words[state].one}</Status>
              {message && <span className="min-w-0 break-words text-quiet text-sm">{message}</span>}
              {conversationId && (
                <PageLink
                  className="ml-auto text-sm text-accent underline underline-offset-2"
                  to={`/conversations/${conversationId}`}
                >
                  Conversation
                </PageLink>
              )}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

const clock = (at: Date, timezone: string): string =>
  at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: timezone });
