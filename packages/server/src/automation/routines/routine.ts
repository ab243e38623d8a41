import { isDeepStrictEqual } from 'node:util';
import { fail } from '@vestra/contract/errors';
import { readCron } from './cron.ts';
import { type OneTime, onceAt } from './one-time.ts';
import { nextRunOfSchedule, readWords, type Schedule } from './schedule.ts';
import type { RoutineRow } from './tables.ts';

/** What may become different in the life of a routine. */
export type Changes = Partial<Omit<RoutineRow, 'id' | 'org_id' | 'mode' | 'managed_by' | 'created_at' | 'updated_at'>>;

type Timing = Pick<RoutineRow, 'enabled' | 'status' | 'every' | 'cron' | 'timezone'>;

export type NextRunOf = (routine: Timing) => Date | null;

/**
 * When routines run next: never while they are paused, have ended or wait for a call. Of many routines with one schedule,
 * as a file makes them for many users, it is worked out once.
 */
export function nextRunsAfter(now: Date): NextRunOf {
  const known = new Map<string, Date | null>();
  return ({ enabled, status, every, cron, timezone }) => {
    if (!enabled || status !== 'active' || cron === null || timezone === null) return null;
    const key = `${timezone} ${onceAt(every) ?? cron}`;
    const next = known.has(key) ? (known.get(key) ?? null) : nextRunOfSchedule({ every, cron }, timezone, now);
    known.set(key, next);
    return next;
  };
}

/**
 * Those of the wanted values that the routine has not, with its next run where they move it. Other changes leave the
 * next run alone: a new name must not step over one that is due.
 */
export function changesOf(before: RoutineRow, wanted: Changes, nextRunOf: NextRunOf): Changes {
  const different = Object.entries(wanted).filter(
    ([column, value]) => !isDeepStrictEqual(before[column as keyof Changes], value),
  );
  const changes: Changes = Object.fromEntries(different);
  const after = { ...before, ...changes };
  const movesRun =
    (['cron', 'timezone', 'enabled', 'status'] as const).some((column) => column in changes) ||
    onceAt(before.every) !== onceAt(after.every);
  return movesRun ? { ...changes, next_run_at: nextRunOf(after) } : changes;
}

type When = {
  every?: string | undefined;
  schedule?: { cron: string; timezone?: string | undefined } | undefined;
  timezone?: string | undefined;
};

/** The schedule that a body gives; null where it gives none. */
export function readWhen({ every, schedule }: When): Schedule | OneTime | null {
  if (every !== undefined) return readWords(every, 'every');
  return schedule === undefined ? null : { every: null, cron: readCron(schedule.cron, 'schedule.cron') };
}

export function readTimezone({ schedule, timezone }: When): string | undefined {
  if (schedule?.timezone !== undefined && timezone !== undefined && schedule.timezone !== timezone) {
    throw fail('invalid_schedule', {
      param: 'schedule.timezone',
      message: '`timezone` and `schedule.timezone` differ: give one of them.',
    });
  }
  return schedule?.timezone ?? timezone;
}

export function assertNotFileManaged({ managed_by }: Pick<RoutineRow, 'managed_by'>): void {
  if (managed_by !== 'file') return;
  throw fail('managed_by_file', {
    message: 'The deployment file declares this routine under `routines`: change it there and apply the file again.',
  });
}
