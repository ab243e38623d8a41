import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import type { AppCredential } from '../../agents/tool-servers/server-access.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { connections } from '../tables.ts';
import type { App } from './app.ts';
import { type AppRoutes, reset, startAppRoutes } from './apps.fixture.ts';
import { createSignIns } from './sign-ins.ts';

let desk: AppRoutes;
beforeAll(async () => {
  desk = await startAppRoutes();
});
afterAll(() => desk.stop());
beforeEach(() => reset(desk.app));

/** Two processes on one database share only its rows. */
const process = (catalogue = desk.catalogue) =>
  createSignIns({ db: desk.db, vault: desk.vault, signIn: desk.signIn, catalogue });

async function connected(user_id = 'ada') {
  const org = await desk.newOrg();
  desk.app.person = user_id;
  const { body } = await desk.create(org.testKey, { user_id });
  await desk.visit(body.connect_url);
  const tenant = { orgId: org.id, mode: 'test' as const };
  return {
    tenant,
    id: body.id as string,
    first: desk.app.grants.at(-1)?.access as string,
    endsIn: (seconds: number) =>
      run(
        desk.db,
        sql`UPDATE ${connections} SET token_expires_at = now() + make_interval(secs => ${seconds}) WHERE id = ${body.id}`,
      ),
    shown: async () => (await desk.list(org.testKey))[0],
    remove: () => desk.call('DELETE', `/v1/connections/${body.id}`, { key: org.testKey }),
    audit: async () => {
      const entries = await auditEntries(desk.db, { targetId: body.id });
      return entries.map(({ action }) => action);
    },
  };
}

const tokenOf = (signedIn: AppCredential | undefined) =>
  signedIn?.credential.kind === 'token' ? signedIn.credential.token : signedIn?.credential.kind;

const renewals = () => desk.app.had.filter((entry) => entry === 'POST /token refresh_token').length;
const current = () => desk.app.grants.at(-1)?.access;

describe('a sign-in', () => {
  it('belongs to one user and mode, among the wanted apps, at the address of the catalogue', async () => {
    const { tenant, first } = await connected();
    const of = async (userId: string | null, wanted: 'all' | string[], from = process(), mode = tenant.mode) =>
      (await from.of({ ...tenant, mode }, userId, wanted)).map(tokenOf);
    expect(await of('ada', 'all')).toEqual([first]);
    expect(await of('ada', ['notes', 'notion'])).toEqual([first]);
    expect(await of('ada', ['notion'])).toEqual([]);
    expect(await of('bob', 'all')).toEqual([]);
    expect(await of(null, 'all')).toEqual([]);
    expect(await of('ada', 'all', process(), 'live' as 'test')).toEqual([]);
    const notes = desk.catalogue.find('notes') as App;
    const moved = { all: [], find: () => ({ ...notes, url: 'https://new.example' }) };
    expect(await of('ada', 'all', process(moved))).toEqual([]);
    expect(renewals()).toBe(0);
  });

  it('is never mixed up if turns of several orgs, users and modes share a read [APP-460]', async () => {
    const [mine, theirs] = [await connected(), await connected()];
    const { of } = process();
    // The first read is running, so the others join into one.
    const asked = [
      of(mine.tenant, 'ada', 'all'),
      of(mine.tenant, 'ada', 'all'),
      of(theirs.tenant, 'ada', 'all'),
      of(mine.tenant, 'bob', 'all'),
      of(mine.tenant, null, 'all'),
      of({ ...theirs.tenant, mode: 'live' }, 'ada', 'all'),
    ];
    const found = (await Promise.all(asked)).map((all) => all.map(tokenOf));
    expect(found).toEqual([[mine.first], [mine.first], [theirs.first], [], [], []]);
  });

  it('is renewed by one process shortly before its token expires, and all get the new token', async () => {
    const { tenant, first, endsIn, shown } = await connected();
    await endsIn(30);
    const [one, other] = [process(), process()];
    const late: Promise<AppCredential[]>[] = [];
    // All others arrive while the app is answering.
    desk.app.instead = async (path) => {
      if (path !== '/token' || late.length > 0) return undefined;
      late.push(...[other, one, other].map((each) => each.of(tenant, 'ada', 'all')));
      for (let look = 0; look < 50; look++) await run(desk.db, sql`SELECT 1`);
      return undefined;
    };
    const early = await one.of(tenant, 'ada', 'all');
    const tokens = [early, ...(await Promise.all(late))].flat().map(tokenOf);
    expect(renewals()).toBe(1);
    expect(tokens).toEqual([current(), current(), current(), current()]);
    expect(current()).not.toBe(first);
    expect(await shown()).toMatchObject({ status: 'connected' });
    // The app accepts each refresh token once, so the next renewal shows that the new one was stored.
    await endsIn(30);
    expect((await one.of(tenant, 'ada', 'all')).map(tokenOf)).toEqual([current()]);
    expect(renewals()).toBe(2);
  });

  it('is renewed by another process if the renewing process died', async () => {
    const { tenant, endsIn, id } = await connected();
    await endsIn(30);
    await run(desk.db, sql`UPDATE ${connections} SET renewing_until = now() + interval '300 ms' WHERE id = ${id}`);
    expect((await process().of(tenant, 'ada', 'all')).map(tokenOf)).toEqual([current()]);
    expect(renewals()).toBe(1);
  });

  it('fails and loses its tokens if the app refuses to renew it [APP-005]', async () => {
    const { tenant, endsIn, shown, audit, id } = await connected();
    await endsIn(-1);
    for (const grant of desk.app.grants) grant.isOver = true;
    const [one, other] = [process(), process()];
    const both = await Promise.all([one.of(tenant, 'ada', 'all'), other.of(tenant, 'ada', 'all')]);
    expect(
      both
        .flat()
        .map(tokenOf)
        .filter((token) => token !== 'over'),
    ).toEqual([]);
    expect(renewals()).toBe(1);
    expect(await shown()).toMatchObject({ status: 'failed' });
    expect(await rowsWhere(desk.db, connections, sql`id = ${id}`)).toMatchObject([{ sealed: null }]);
    expect(await audit()).toEqual(['connection.created', 'connection.connected', 'connection.failed']);
    // Later callers still see that there was one.
    expect((await one.of(tenant, 'ada', 'all')).map(tokenOf)).toEqual(['over']);
  });

  it('stays usable until its token expires while the app is unreachable', async () => {
    const { tenant, first, endsIn, shown } = await connected();
    desk.app.instead = (path) => (path === '/token' ? new Response('busy', { status: 503 }) : undefined);
    await endsIn(30);
    expect((await process().of(tenant, 'ada', 'all')).map(tokenOf)).toEqual([first]);
    await endsIn(-1);
    expect((await process().of(tenant, 'ada', 'all')).map(tokenOf)).toEqual(['unavailable']);
    expect(await shown()).toMatchObject({ status: 'connected' });
    reset(desk.app);
    expect((await process().of(tenant, 'ada', 'all')).map(tokenOf)).toEqual([current()]);
  });

  it('ends with its token if it cannot be renewed, and never if the token does not expire', async () => {
    desk.app.givesRefreshTokens = false;
    const short = await connected();
    await short.endsIn(30);
    expect((await process().of(short.tenant, 'ada', 'all')).map(tokenOf)).toEqual([short.first]);
    await short.endsIn(-1);
    expect((await process().of(short.tenant, 'ada', 'all')).map(tokenOf)).toEqual(['over']);
    expect(renewals()).toBe(0);
    desk.app.lasts = null;
    const endless = await connected();
    const [signedIn] = await process().of(endless.tenant, 'ada', 'all');
    expect(tokenOf(signedIn)).toBe(endless.first);
    expect(tokenOf(await refused(signedIn))).toBe('over');
    expect(await endless.shown()).toMatchObject({ status: 'failed' });
  });

  it('is revoked if it was removed during its renewal', async () => {
    const { tenant, endsIn, remove } = await connected();
    await endsIn(-1);
    desk.app.instead = async (path) => {
      if (path === '/token') {
        desk.app.instead = () => undefined;
        await remove();
        for (const grant of desk.app.grants) grant.isOver = false;
      }
      return undefined;
    };
    expect((await process().of(tenant, 'ada', 'all')).map(tokenOf)).toEqual(['over']);
    expect(desk.app.grants.at(-1)?.isOver).toBe(true);
  });
});

async function refused(signedIn: AppCredential | undefined): Promise<AppCredential> {
  if (signedIn?.credential.kind !== 'token') throw new Error('There is no token.');
  return signedIn.credential.refused();
}

describe('a token that the app refuses', () => {
  it('is renewed once, then the sign-in is over', async () => {
    const { tenant, first, shown } = await connected();
    const [signedIn] = await process().of(tenant, 'ada', 'all');
    const second = await refused(signedIn);
    expect(tokenOf(second)).toBe(current());
    expect(tokenOf(second)).not.toBe(first);
    expect(await shown()).toMatchObject({ status: 'connected' });
    expect(tokenOf(await refused(second))).toBe('over');
    expect(await shown()).toMatchObject({ status: 'failed' });
    expect(renewals()).toBe(1);
  });

  it('is not renewed twice by callers that were refused at about the same time', async () => {
    const { tenant } = await connected();
    const [one] = await process().of(tenant, 'ada', 'all');
    const [other] = await process().of(tenant, 'ada', 'all');
    expect([tokenOf(await refused(one)), tokenOf(await refused(other))]).toEqual([current(), current()]);
    expect(renewals()).toBe(1);
  });
});
