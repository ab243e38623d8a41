import type { Fault } from '@vestra/contract/errors';
import { computerFaults } from './computer-faults.ts';
import type { SettingParts } from './parts.ts';
import type { ApplyPorts } from './ports.ts';
import { fault } from './refusal.ts';
import { functionFaults } from './tool-faults.ts';

/** What is wrong with the settings that file and manifest share, as far as they can be judged by themselves. */
export function settingFaults(
  parts: SettingParts,
  { catalogue, refuseAddress, faultOfSchema }: Pick<ApplyPorts, 'catalogue' | 'refuseAddress' | 'faultOfSchema'>,
): Fault[] {
  const unlisted = parts.model.filter(({ value }) => !catalogue.has(value));
  return [
    ...unlisted.map(({ at, value }) => fault('invalid_manifest', at, `GET /v1/models lists no model \`${value}\`.`)),
    ...functionFaults(parts.functions, { faultOfSchema }),
    ...computerFaults(parts, { refuseAddress }),
  ];
}
