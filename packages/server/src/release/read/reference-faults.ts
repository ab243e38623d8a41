import type { Fault } from '@vestra/contract/errors';
import { findSettings } from '../../account/index.ts';
import { notebooksExist } from '../../agents/notebooks/index.ts';
import { builtInSkills, findSkills } from '../../agents/skills/index.ts';
import { filesExist } from '../../engine/files/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { PlacedValue, SettingParts } from '../file/parts.ts';
import { fault } from './refusal.ts';

/** What the settings name that the org does not have. */
export async function referenceFaults(
  tx: Transaction,
  { caller, parts, hold }: { caller: Caller; parts: SettingParts } & { hold: boolean },
): Promise<Fault[]> {
  const { orgId } = caller;
  const skillIds = parts.skills.flatMap(({ at, value }) =>
    'id' in value ? [{ at: `${at}.id`, value: value.id }] : [],
  );
  const builtIn = parts.skills.flatMap(({ at, value }) =>
    'name' in value ? [{ at: `${at}.name`, value: value.name }] : [],
  );
  const files = parts.files.map(({ at, value }) => ({ at: `${at}.file_id`, value: value.file_id }));
  const exist = async (
    look: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
    places: PlacedValue<string>[],
  ) => (places.length === 0 ? new Set<string>() : look([...new Set(places.map(({ value }) => value))]));
  const skills = await findSkills(tx, orgId, [...new Set(skillIds.map(({ value }) => value))], { hold });
  const notebooks = await exist((ids) => notebooksExist(tx, orgId, ids, { hold }), parts.notebooks);
  const comesWithUs = await exist(async () => new Set((await builtInSkills()).map(({ name }) => name)), builtIn);
  const kept = await exist((ids) => filesExist(tx, caller, ids, { hold }), files);
  const asksCustomer = parts.memory.filter(({ value }) => value === 'customer');
  const hasEndpoint = asksCustomer.length === 0 || (await findSettings(tx, caller)).memory_endpoint !== null;
  return [
    ...unknown(skillIds, new Set(skills.keys()), (id) => `There is no skill ${id}.`),
    ...unknown(builtIn, comesWithUs, (name) => `No skill called \`${name}\` comes with the service.`),
    ...unknown(parts.notebooks, notebooks, (id) => `There is no notebook ${id}.`),
    ...unknown(files, kept, (id) => `There is no file ${id} in ${caller.mode} mode.`),
    ...skillsOfOneName(parts.skills, skills),
    ...(hasEndpoint ? [] : asksCustomer).map(({ at }) =>
      fault(
        'memory_endpoint_required',
        at,
        `Memory kept by the customer needs the org to set \`memory_endpoint\` in ${caller.mode} mode first.`,
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

/** The agent finds a skill by its name. The same one named again is no other, and is saved once. */
function skillsOfOneName(named: SettingParts['skills'], own: ReadonlyMap<string, { name: string }>): Fault[] {
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
