import type { Fault } from '@vestra/contract/errors';
import type { ApplyDependencies } from '../dependencies.ts';
import type { SettingParts } from '../file/parts.ts';
import { computerFaults } from './computer-faults.ts';
import { fault } from './refusal.ts';
import { functionFaults } from './tool-faults.ts';

/** What is wrong with the settings that file and manifest share, as far as they can be judged by themselves. */
export async function settingFaults(
  parts: SettingParts,
  { models, refuseAddress, faultOfSchema }: Pick<ApplyDependencies, 'models' | 'refuseAddress' | 'faultOfSchema'>,
): Promise<Fault[]> {
  return [
    ...parts.model.flatMap(({ at, value }) => modelFaults(models, at, value)),
    ...(await functionFaults(parts.functions, { faultOfSchema })),
    ...computerFaults(parts, { refuseAddress }),
  ];
}

/** What runs on a model that has ended goes on as it can; nothing new is put on one. */
function modelFaults({ catalogue }: ApplyDependencies['models'], at: string, id: string): Fault[] {
  if (!catalogue.has(id)) return [fault('invalid_manifest', at, `GET /v1/models lists no model \`${id}\`.`)];
  const model = catalogue.find('test', id);
  return model?.isRetired ? [fault('invalid_manifest', at, String(model.unavailable_reason))] : [];
}
