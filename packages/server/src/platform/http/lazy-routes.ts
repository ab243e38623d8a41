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

/** All handlers of a family of routes. Their code is loaded by the first request, so that a start reads less. */
export function lazyRoutes<Family extends keyof Api>(
  family: Family,
  load: () => Promise<Handlers<Family>>,
): Handlers<Family> {
  const loaded = onFirstCall(load as () => Promise<Record<string, (incoming: unknown) => unknown>>);
  const names = routes.flatMap(({ name }) => (name.startsWith(`${family}.`) ? [name.slice(family.length + 1)] : []));
  return Object.fromEntries(
    names.map((name) => [name, async (incoming: unknown) => (await loaded())[name]?.(incoming)]),
  ) as Handlers<Family>;
}
