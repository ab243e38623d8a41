import { getConnInfo } from '@hono/node-server/conninfo';
import type { Failure } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Context, Hono } from 'hono';
import { errorBody } from './error-response.ts';
import { refuseMetrics } from './metrics-access.ts';

type Format = 'prometheus' | 'openmetrics';

type Options = {
  /** Whether this process can serve, and what of it cannot. */
  health: () => Promise<{ isReady: boolean; checks: Record<string, { status: string; message: string | null }> }>;
  metrics: (format: Format) => Promise<string>;
  metricsToken: (() => string) | null;
};

/** What machines of the operator ask: no API, and in no version of it. */
export const operatorRoutes =
  ({ health, metrics, metricsToken }: Options) =>
  (app: Hono) => {
    // That it is answered at all is the answer: a process whose loop hangs says nothing.
    app.get('/health/live', () => json(200, { status: 'live' }));

    app.get('/health/ready', async () => {
      const { isReady, checks } = await health();
      return json(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', checks });
    });

    app.get('/metrics', async (context) => {
      const { headers } = context.req.raw;
      const refusal = refuseMetrics(socketAddressOf(context), headers, metricsToken?.() ?? null);
      if (refusal) return refused(refusal);
      const format = wantedFormat(headers.get('accept') ?? '');
      return new Response(await metrics(format), { headers: { ...common, 'content-type': contentTypes[format] } });
    });
  };

const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

const contentTypes: Record<Format, string> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

const wantedFormat = (accept: string): Format =>
  /application\/openmetrics-text(?![^,]*;\s*q=0(\.0*)?\s*(,|;|$))/i.test(accept) ? 'openmetrics' : 'prometheus';

/** Of the socket itself: no header says whose it is. A request that came over none has none. */
const socketAddressOf = (context: Context): string =>
  context.env?.incoming ? (getConnInfo(context).remote.address ?? '') : '';

function refused(failure: Failure): Response {
  const response = json(failure.status, errorBody(failure, newId('req')));
  if (failure.status === 401) response.headers.set('www-authenticate', 'Bearer realm="vestra"');
  return response;
}

const json = (status: number, body: unknown) => Response.json(body, { status, headers: common });
