import { Cron } from 'croner';

export type Scheduled = {
  enabled: boolean;
  status: string;
  next_run_at: string | null;
  schedule: { every: string | null; cron: string; timezone: string } | null;
};

/** The next runs of a schedule in its time zone. A one-time routine has one. */
export function nextTimes({ enabled, status, next_run_at, schedule }: Scheduled, most = 10): Date[] {
  if (!enabled || status !== 'active' || schedule === null || next_run_at === null) return [];
  const first = new Date(next_run_at);
  if (/^\d{4}-\d{2}-\d{2} at /.test(schedule.every ?? '')) return [first];
  try {
    return [
      first,
      ...new Cron(schedule.cron, { mode: '5-part', timezone: schedule.timezone, paused: true }).nextRuns(
        most - 1,
        first,
      ),
    ];
  } catch {
    // If only the server can parse the schedule, its next run is still known.
    return [first];
  }
}

export const inWords = (at: Date, timezone: string): string =>
  at.toLocaleString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: timezone,
  });

export const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
