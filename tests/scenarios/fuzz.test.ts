import { routes } from '@vestra/contract/api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodiesOf, queriesOf } from '../support/hostile.ts';
import { pathOf } from '../support/paths.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
const runsPerRoute = 25;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const segment = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30 }),
  fc.constantFrom('..', '.', '%00', '%', '%ff', 'null', 'a'.repeat(300), '🦊', 'dep_', "'"),
);

/**
 * `server.call` holds every answer against the contract: a status outside the row, a field it does not
 * name or an error in another shape fails here too.
 */
describe('no input answers 500, and no answer leaves the contract [REQ-044]', () => {
  it.each(routes.map((row) => [row.name, row.route] as const))('%s', async (_, route) => {
    const hasBody = route.body !== undefined;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: segment }),
        queriesOf(route),
        bodiesOf(route),
        async (wrongId, search, body) => {
          const path =
            wrongId === null
              ? pathOf(route)
              : route.path.replace(/\{\w+\}/g, encodeURIComponent(wrongId.toWellFormed()));
          const {
            status,
            body: answer,
            text,
          } = await server.call(route.method, `${path}${search}`, {
            ...(hasBody && body !== undefined
              ? { raw: JSON.stringify(body) ?? 'null', headers: { 'content-type': 'application/json' } }
              : {}),
          });
          expect(status === 501 ? answer.error.code : status, text).not.toBe(500);
          if (status === 501) expect(answer.error.code).toBe('not_implemented');
          else expect(status, text).toBeLessThan(500);
        },
      ),
      { numRuns: runsPerRoute },
    );
  });
});

describe('hostile credentials and headers', () => {
  it('never answer 500 [REQ-044]', async () => {
    const header = fc.string({ maxLength: 60 }).map((text) => text.replace(/[^\x20-\x7e]/g, '').trim());
    await fc.assert(
      fc.asyncProperty(header, header, header, header, async (authorization, mode, org, cookie) => {
        const { status } = await server.call('GET', '/v1/me', {
          key: null,
          headers: { authorization, 'service-mode': mode, 'service-org': org, cookie: `vestra_console=${cookie}` },
        });
        expect([200, 400, 401, 403]).toContain(status);
      }),
      { numRuns: 150 },
    );
  });
});
