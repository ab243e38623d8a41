import { fail } from '@vestra/contract/errors';
import type { Models } from '@vestra/models/models';
import type { PricedModel } from '@vestra/models/prices';
import type { Tenant } from '../../../caller.ts';

/** The model that a version names, if this mode may use it now. */
export function usableModel({ catalogue }: Models, mode: Tenant['mode'], named: string): PricedModel {
  const id = named === 'default' ? catalogue.defaultModel : named;
  const model = catalogue.list(mode).find((each) => each.id === id);
  if (model?.available) return model;
  throw fail('model_unavailable', {
    message: model
      ? `The model \`${model.id}\` is not open to ${mode} mode. Configure a provider, or name it in VESTRA_DEFAULT_MODEL.`
      : `No configured provider has the model \`${id ?? named}\`.`,
  });
}
