import { keys } from './keys.ts';
import type { Family, Route } from './route.ts';

/** The table: every route of the service. */
export const api = { keys } satisfies Record<string, Family>;

export type Api = typeof api;

export type RouteRow = { name: string; family: keyof Api; operation: string; route: Route };

export const routes: readonly RouteRow[] = Object.entries(api).flatMap(([family, rows]) =>
  Object.entries(rows as Family).map(([operation, route]) => ({
    name: `${family}.${operation}`,
    family: family as keyof Api,
    operation,
    route,
  })),
);
