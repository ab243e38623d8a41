import type { Fault } from '@vestra/contract/errors';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import { readSchedule } from '../../automation/index.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import type { FileParts } from '../file/parts.ts';
import { fault } from './refusal.ts';

/** What is wrong with the routines, tests and webhook endpoints of a file, each looked at by itself. */
export function objectFaults(
  { routines, tests, webhooks }: Pick<FileParts, 'routines' | 'tests' | 'webhooks'>,
  { refuseAddress }: Pick<ApplyDependencies, 'refuseAddress'>,
): Fault[] {
  return [
    ...routines.flatMap(scheduleFaults),
    ...repeated(
      routines.flatMap(({ at, value: { name, ask } }) => {
        const place = name === undefined ? at : `${at}.name`;
        return ask === undefined && name === undefined ? [] : [[nameOfRoutine({ name, ask: ask ?? '' }), place]];
      }),
      (name) => `Two routines are called \`${name}\`. A routine is found again by its name.`,
    ),
    ...repeated(
      tests.flatMap(({ at, value: { name } }) => (name === undefined ? [] : [[name, `${at}.name`]])),
      (name) => `Two tests are called \`${name}\`.`,
    ),
    ...webhooks.flatMap(({ at, value: { url } }) => {
      const message = url === undefined ? null : refuseAddress(url);
      return message === null ? [] : [fault('invalid_manifest', `${at}.url`, message)];
    }),
    ...repeated(
      webhooks.flatMap(({ at, value: { url } }) => (url === undefined ? [] : [[url, `${at}.url`]])),
      () => 'Two endpoints have this URL. Name all its events in one of them.',
    ),
  ];
}

function scheduleFaults({ at, value, given }: FileParts['routines'][number]): Fault[] {
  const faults: Fault[] = [];
  const { every, cron, timezone } = value;
  if (['every', 'cron', 'on'].filter((key) => given.has(key)).length !== 1) {
    faults.push(fault('invalid_schedule', at, 'Give exactly one of `every`, `cron` or `on: call`.'));
  } else if (every !== undefined || cron !== undefined) {
    const found = readSchedule({ every, cron, timezone });
    if (found) faults.push(fault(found.code, `${at}.${found.field}`, found.message));
  }
  if (given.has('filters') && !given.has('on')) {
    faults.push(fault('invalid_trigger', `${at}.filters`, '`filters` go with `on: call`.'));
  }
  return faults;
}

/** A fault for every name that was there before; each is given with its place. */
function repeated(named: readonly (readonly string[])[], message: (name: string) => string): Fault[] {
  const seen = new Set<string>();
  return named.flatMap(([name = '', at = '']) => {
    if (seen.has(name)) return [fault('duplicate_name', at, message(name.slice(0, 120)))];
    seen.add(name);
    return [];
  });
}
