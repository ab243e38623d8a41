import type { Fault } from '@vestra/contract/errors';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import { findSettings } from '../../account/index.ts';
import { notebooksExist } from '../../agents/notebooks/index.ts';
import { builtInSkills, findSkills } from '../../agents/skills/index.ts';
import { readSchedule } from '../../automation/index.ts';
import { copyableFiles } from '../../engine/files/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { fault } from './faults.ts';
import type { FileParts, PlacedValue, SettingParts } from './parts.ts';

/** Hashes of the files that the newest version fixed, by id. They can be used again after the upload was deleted. */
export type FixedFiles = ReadonlyMap<string, string>;

/** Faults for references to objects that the org does not have. */
export async function referenceFaults(
  tx: Transaction,
  {
    caller,
    parts,
    fixedFiles,
    hold,
  }: { caller: Caller; parts: SettingParts; fixedFiles: FixedFiles } & { hold: boolean },
): Promise<Fault[]> {
  const { orgId } = caller;
  const skillIds = parts.skills.flatMap(({ at, value }) =>
    'id' in value ? [{ at: `${at}.id`, value: value.id }] : [],
  );
  const builtIn = parts.skills.flatMap(({ at, value }) =>
    'name' in value ? [{ at: `${at}.name`, value: value.name }] : [],
  );
  const files = parts.files.flatMap(({ at, value: { file_id } }) =>
    file_id === undefined ? [] : [{ at: `${at}.file_id`, value: file_id }],
  );
  const exist = async (
    look: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
    places: PlacedValue<string>[],
  ) => (places.length === 0 ? new Set<string>() : look([...new Set(places.map(({ value }) => value))]));
  const skills = await findSkills(tx, orgId, [...new Set(skillIds.map(({ value }) => value))], { hold });
  const notebooks = await exist((ids) => notebooksExist(tx, orgId, ids, { hold }), parts.notebooks);
  const comesWithUs = await exist(async () => new Set((await builtInSkills()).map(({ name }) => name)), builtIn);
  const kept = await exist(async (ids) => new Set((await copyableFiles(tx, caller, ids, { hold })).keys()), files);
  const asksCustomer = parts.memory.filter(({ value }) => value === 'customer');
  const hasEndpoint = asksCustomer.length === 0 || (await findSettings(tx, caller)).memory_endpoint !== null;
  return [
    ...unknown(skillIds, new Set(skills.keys()), (id) => `There is no skill ${id}.`),
    ...unknown(builtIn, comesWithUs, (name) => `No skill called \`${name}\` comes with the service.`),
    ...unknown(parts.notebooks, notebooks, (id) => `There is no notebook ${id}.`),
    ...unknown(
      files,
      new Set([...kept, ...fixedFiles.keys()]),
      (id) => `There is no file ${id} in ${caller.mode} mode.`,
    ),
    ...repeatedSkillFaults(parts.skills, skills),
    ...(hasEndpoint ? [] : asksCustomer).map(({ at }) =>
      fault(
        'memory_endpoint_required',
        at,
        `Memory on your side needs \`memory_endpoint\` of the org in ${caller.mode} mode: set it first.`,
      ),
    ),
  ];
}

const unknown = (
  places: readonly PlacedValue<string>[],
  known: ReadonlySet<string>,
  message: (name: string) => string,
) =>
  places.filter(({ value }) => !known.has(value)).map(({ at, value }) => fault('invalid_manifest', at, message(value)));

/** The agent finds a skill by its name, so names must differ. A repeated reference is saved once. */
function repeatedSkillFaults(named: SettingParts['skills'], own: ReadonlyMap<string, { name: string }>): Fault[] {
  const firstOf = new Map<string, string>();
  return named.flatMap(({ at, value }) => {
    const [name, place, key] =
      'id' in value ? [own.get(value.id)?.name, `${at}.id`, value.id] : [value.name, `${at}.name`, value.name];
    if (name === undefined) return [];
    const first = firstOf.get(name) ?? key;
    firstOf.set(name, first);
    return first === key ? [] : [fault('duplicate_name', place, `Two skills are called \`${name}\`.`)];
  });
}

/** Faults of the routines, tests and webhook endpoints of a file, each checked alone. */
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
    faults.push(fault('invalid_trigger', `${at}.filters`, '`filters` need `on: call`.'));
  }
  return faults;
}

/** One fault for each repeated name. Each pair is a name and its path. */
function repeated(named: readonly (readonly string[])[], message: (name: string) => string): Fault[] {
  const seen = new Set<string>();
  return named.flatMap(([name = '', at = '']) => {
    if (seen.has(name)) return [fault('duplicate_name', at, message(name.slice(0, 120)))];
    seen.add(name);
    return [];
  });
}
