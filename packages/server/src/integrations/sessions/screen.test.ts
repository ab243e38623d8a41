import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { poolWithoutBrowser } from '../../computers/browser/browser-pool.fixture.ts';
import { createScreens } from '../../computers/browser/screens.ts';
import type { Engine } from '../../engine/index.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { VoiceCalls } from '../../voice/calls.ts';
import { sessionRoutes } from './routes.ts';
import { createScreenCredentials } from './sessions.ts';
import { insertSession, newToken } from './store.ts';

const browserPool = poolWithoutBrowser();

let app: Awaited<ReturnType<typeof startTestApp>>;
let orgId: string;
beforeAll(async () => {
  app = await startTestApp(({ db }) => ({
    sessions: sessionRoutes({
      engine: { db } as Engine,
      publicUrl: 'http://localhost:4600',
      screens: createScreens({ db, browserPool, log: pino({ level: 'silent' }) }),
      credentials: createScreenCredentials(randomBytes(32)),
      voice: {} as VoiceCalls,
      ended: () => {},
    }),
  }));
  orgId = (await app.newOrg(['all'])).id;
});
afterAll(async () => {
  browserPool.stop();
  await app.stop();
});

const ownerOf = (userId: string) => ({ orgId, mode: 'test' as const, userId });

async function open(userId: string, screen: 'view' | 'control') {
  const { token, hash } = newToken();
  const id = newId('ses');
  await transaction(app.db, (tx) =>
    insertSession(tx, {
      id,
      org_id: orgId,
      mode: 'test',
      user_id: userId,
      token_hash: hash,
      chat: false,
      screen,
      memory: false,
      driver: 'bash',
      expires_at: new Date(Date.now() + 900_000),
    }),
  );
  const call = async (method: string, path = '', body?: unknown) => {
    const answer = await app.call(method, `/v1/sessions/${id}${path}`, {
      key: token,
      ...(body !== undefined && { body }),
    });
    return [answer.status, answer.body.error?.code ?? answer.body];
  };
  return call;
}

describe('the screen of a browser that is', () => {
  it.each([
    { holder: 'private' as const, code: 'browser_in_use' },
    { holder: 'paying' as const, code: 'payment_in_progress' },
  ])(
    '$holder answers 409 $code to viewers, and reports it to them [SES-005, SES-022, SES-023]',
    async ({ holder, code }) => {
      const [viewer, driver] = [await open(holder, 'view'), await open(holder, 'control')];
      browserPool.control.hide(ownerOf(holder), holder);
      expect(await viewer('GET', '/screen')).toEqual([409, code]);
      expect((await viewer('GET'))[1]).toMatchObject({ screen_paused: true });
      expect((await driver('GET'))[1]).not.toHaveProperty('screen_paused');
      browserPool.control.hide(ownerOf(holder), null);
      expect((await viewer('GET', '/screen'))[1]).toBe('browser_not_open');
      expect((await viewer('GET'))[1]).not.toHaveProperty('screen_paused');
    },
  );

  it('asleep reports why it did not wake, and tries again after that', async () => {
    const viewer = await open('bea', 'view');
    expect(await viewer('GET', '/screen')).toEqual([409, 'browser_not_open']);
    expect(await viewer('GET', '/screen')).toEqual([503, 'computer_unavailable']);
    expect(await viewer('GET', '/screen')).toEqual([409, 'browser_not_open']);
  });
});

describe('the credential of a screen', () => {
  it('is valid for 5 minutes, only for its session and with its signature [SES-021]', () => {
    let now = 1_000_000;
    const { make, isGood } = createScreenCredentials(randomBytes(32), () => now);
    const credential = make('ses_a');
    const [expires, signature] = credential.split('.');
    expect(isGood('ses_a', credential)).toBe(true);
    expect(isGood('ses_b', credential)).toBe(false);
    expect(isGood('ses_a', `${Number(expires) + 1}.${signature}`)).toBe(false);
    expect(createScreenCredentials(randomBytes(32), () => now).isGood('ses_a', credential)).toBe(false);
    now += 5 * 60_000 - 1;
    expect(isGood('ses_a', credential)).toBe(true);
    now += 1;
    expect(isGood('ses_a', credential)).toBe(false);
  });
});
