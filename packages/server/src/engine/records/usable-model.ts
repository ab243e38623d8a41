import { fail } from '@vestra/contract/errors';
import type { Models } from '@vestra/models/models';
import type { PricedModel } from '@vestra/models/prices';
import type { Tenant } from '../../platform/caller.ts';

/**
 * The model that a version names, if this mode may use it now. One that its vendor is said to have ended is asked for all
 * the same: where that is so the vendor says it, and where it is not nobody is shut out by a date in a list.
 */
export function usableModel({ catalogue }: Models, mode: Tenant['mode'], named: string): PricedModel {
  const id = named === 'default' ? catalogue.defaultModel : named;
  const model = id === null ? undefined : catalogue.find(mode, id);
  if (model && !model.isRefused) return model;
  throw fail('model_unavailable', {
    message: model?.unavailable_reason ?? `No configured provider has the model \`${id ?? named}\`.`,
  });
}
