import { usdToMicros } from '@vestra/contract/money';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { newDeployment } from '../../agents/deployments/deployments.fixture.ts';
import { credit } from '../../billing/charge.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { createStreams } from '../../platform/http/streams.ts';
import { enterUser } from '../../users/users.ts';
import { oneProcess } from '../computer-routing.fixture.ts';
import { browserRoutes, screenRoutes } from '../routes.ts';
import { poolWithoutBrowser } from './browser-pool.fixture.ts';
import type { BrowserDriver, HiddenReason } from './browser-pool.ts';
import { createRemoteBrowsers } from './remote-browser.ts';
import { createScreens } from './screens.ts';

const browserPool = poolWithoutBrowser();

let app: Awaited<ReturnType<typeof startTestApp>>;
let org: Awaited<ReturnType<typeof app.newOrg>>;
let deployment: string;
beforeAll(async () => {
  app = await startTestApp(({ db }) => {
    const screens = createScreens({ db, browserPool, log: pino({ level: 'silent' }) });
    const browsers = createRemoteBrowsers({ db, browserPool, screens, routing: oneProcess });
    return {
      browser: browserRoutes({ db, browsers, streams: createStreams() }),
      users: screenRoutes({ db, browsers }),
    };
  });
  org = await app.newOrg(['all']);
  await transaction(app.db, (tx) => credit(tx, { orgId: org.id, mode: 'test' }, usdToMicros(10)));
  deployment = (await newDeployment(app.db, org.id, { manifest: { browser: { allowed_domains: ['shop.example'] } } }))
    .id;
  await transaction(app.db, (tx) => enterUser(tx, { orgId: org.id, mode: 'test' }, 'ada'));
});
afterAll(async () => {
  browserPool.stop();
  await app.stop();
});

const owner = () => ({ orgId: org.id, mode: 'test' as const, userId: 'ada' });
const setDriver = (holder: BrowserDriver | HiddenReason) => {
  const isSecret = holder === 'private' || holder === 'paying';
  browserPool.control.hide(owner(), isSecret ? holder : null);
  browserPool.control.setDriver(owner(), isSecret ? 'nobody' : holder);
};
const codes = async (): Promise<Record<string, string>> => {
  const key = org.testKey;
  const body = { deployment, url: 'https://shop.example/' };
  const answers = {
    fetch: await app.call('POST', '/v1/users/ada/browser/fetch', { key, body }),
    screenshot: await app.call('GET', '/v1/users/ada/screenshot', { key }),
    cookies: await app.call(
      'GET',
      `/v1/users/ada/browser/cookies?deployment=${deployment}&domain=shop.example&names=a`,
      {
        key,
      },
    ),
    ofAnother: await app.call('POST', '/v1/users/bea/browser/fetch', { key, body }),
  };
  return Object.fromEntries(
    Object.entries(answers).map(([name, { status, body }]) => [name, `${status} ${body.error.code}`]),
  );
};

const passed = '503 computer_unavailable';
const inUse = '409 browser_in_use';

describe('control of a browser', () => {
  it.each([
    { holder: 'nobody' as const, fetch: passed, screenshot: passed },
    { holder: 'agent' as const, fetch: passed, screenshot: passed },
    { holder: 'person' as const, fetch: inUse, screenshot: passed },
    { holder: 'private' as const, fetch: inUse, screenshot: inUse },
    { holder: 'paying' as const, fetch: inUse, screenshot: inUse },
  ])(
    '$holder: a fetch answers $fetch, a screenshot $screenshot [BRW-007, BRW-027]',
    async ({ holder, ...expected }) => {
      setDriver(holder);
      // An app that waits for a sign-in reads the cookies while the user signs in.
      expect(await codes()).toEqual({ ...expected, cookies: passed, ofAnother: passed });
      setDriver('nobody');
    },
  );
});
