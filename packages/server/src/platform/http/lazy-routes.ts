import { type Api, routes } from '@vestra/contract/api';
import type { Handlers } from './handler.ts';

/** Loads a value once, when it is first needed. After a failure the next call tries again. */
export function onFirstCall<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}

/** A handler that is loaded by its first request, so that a start reads less. */
export function lazyHandler<Incoming>(
  load: () => Promise<(incoming: Incoming) => Promise<Response>>,
): (incoming: Incoming) => Promise<Response> {
  const loaded = onFirstCall(load);
  return async (incoming) => (await loaded())(incoming);
}

/** All handlers of a family of routes, loaded by the first request to one of them. */
export function lazyRoutes<Family extends keyof Api>(
  family: Family,
  load: () => Promise<Handlers<Family>>,
): Handlers<Family> {
  const loaded = onFirstCall(load as () => Promise<Record<string, (incoming: unknown) => unknown>>);
  const names = routes.flatMap(({ name }) => (name.startsWith(`${family}.`) ? [name.slice(family.length + 1)] : []));
  const handlerOf = (name: string) => async (incoming: unknown) => {
    const handler = (await loaded())[name];
    if (!handler) throw new Error(`The route ${family}.${name} has no handler.`);
    return handler(incoming);
  };
  return Object.fromEntries(names.map((name) => [name, handlerOf(name)])) as Handlers<Family>;
}
