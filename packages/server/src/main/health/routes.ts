import { type Handlers, Reply } from '../../platform/http/handler.ts';
import type { Health } from './health.ts';

/** Up means that a request would be answered, one that writes included. */
export function healthRoutes({
  health,
  version,
}: {
  health: () => Promise<Health>;
  version: string;
}): Handlers<'health'> {
  return {
    get: async () => {
      const { isReady, checks } = await health();
      const status = isReady ? ('ok' as const) : ('failing' as const);
      return new Reply({ object: 'health' as const, status, version, checks }, { status: isReady ? 200 : 503 });
    },
  };
}
