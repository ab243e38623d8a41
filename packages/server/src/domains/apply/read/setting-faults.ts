import type { Fault } from '@vestra/contract/errors';
import type { ApplyDependencies } from '../dependencies.ts';
import type { SettingParts } from '../file/parts.ts';
import { computerFaults } from './computer-faults.ts';
import { fault } from './refusal.ts';
import { functionFaults } from './tool-faults.ts';

/** What is wrong with the settings that file and manifest share, as far as they can be judged by themselves. */
export function settingFaults(
  parts: SettingParts,
  { models, refuseAddress, faultOfSchema }: Pick<ApplyDependencies, 'models' | 'refuseAddress' | 'faultOfSchema'>,
): Fault[] {
  const unlisted = parts.model.filter(({ value }) => !models.catalogue.has(value));
  return [
    ...unlisted.map(({ at, value }) => fault('invalid_manifest', at, `GET /v1/models lists no model \`${value}\`.`)),
    ...functionFaults(parts.functions, { faultOfSchema }),
    ...computerFaults(parts, { refuseAddress }),
  ];
}
