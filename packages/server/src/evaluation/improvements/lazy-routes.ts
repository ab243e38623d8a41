import type { Handlers } from '../../platform/http/handler.ts';
import type { ImprovementDependencies } from './improvements.ts';

/** The routes of improvements, loaded with the first request: a start needs neither the code nor its prompts. */
export function lazyImprovementRoutes(dependencies: ImprovementDependencies): Handlers<'improvements'> {
  const load = async () =>
    (await import('./routes.ts')).improvementRoutes(dependencies) as Required<Handlers<'improvements'>>;
  return {
    create: async (incoming) => (await load()).create(incoming),
    list: async (incoming) => (await load()).list(incoming),
    get: async (incoming) => (await load()).get(incoming),
    cancel: async (incoming) => (await load()).cancel(incoming),
  };
}
