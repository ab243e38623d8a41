import { consoleAccess as contract } from '@vestra/contract/members';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { auditEntries, consoleSessions, logins, members, orgs } from '../tables.ts';
import { newEmail, password, startConsole } from './members.fixture.ts';
import { hashToken } from './session-cookies.ts';

let server: Awaited<ReturnType<typeof startConsole>>;
beforeAll(async () => {
  server = await startConsole();
});
afterAll(() => server.stop());

const actionsOf = async (orgId: string) => {
  const rows = await rowsWhere(
    server.db,
    auditEntries,
    sql`org_id = ${orgId} AND action LIKE 'member.log%' ORDER BY id`,
  );
  return rows.map(({ action }) => action);
};

describe('logging in', () => {
  it('sets an HttpOnly cookie and returns the session with its CSRF token [MBR-009]', async () => {
    const org = await server.newOrg();
    const { status, headers, body } = await server.call('POST', '/v1/console/login', {
      body: { email: ` ${org.owner.email.toUpperCase()} `, password },
    });
    expect(status).toBe(200);
    const session = contract.login.response.parse(body);
    expect(session).toMatchObject({
      member: { id: org.owner.id, role: 'owner' },
      org: { id: org.id, status: 'active' },
      orgs: [{ id: org.id, role: 'owner' }],
      mode: 'test',
    });
    expect(session.csrf_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const [cookie = ''] = headers.getSetCookie();
    expect(cookie).toMatch(/^vestra_console=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800$/);

    const token = cookie.slice('vestra_console='.length, cookie.indexOf(';'));
    const [row] = await rowsWhere(server.db, consoleSessions, sql`email = ${org.owner.email}`);
    expect(row?.token_hash.equals(hashToken(token))).toBe(true);
    expect(JSON.stringify(row)).not.toContain(token);
    expect(await actionsOf(org.id)).toEqual(['member.logged_in']);
  });

  it('marks the cookie Secure if a proxy reports https', async () => {
    const org = await server.newOrg();
    const body = { email: org.owner.email, password };
    const headers = { 'x-forwarded-proto': 'https' };
    const answer = await server.call('POST', '/v1/console/login', { body, headers });
    expect(answer.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  it('answers a wrong password and an unknown email alike, and sets no cookie [MBR-010]', async () => {
    const org = await server.newOrg();
    const tries = [
      { email: org.owner.email, password: 'wrong password here' },
      { email: newEmail(), password },
    ];
    const answers = [];
    for (const body of tries) {
      const startedAt = performance.now();
      const answer = await server.call('POST', '/v1/console/login', { body });
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(499);
      expect(answer.headers.get('set-cookie')).toBeNull();
      answers.push({ status: answer.status, error: { ...answer.body.error, request_id: null } });
    }
    expect(answers[0]).toMatchObject({ status: 401, error: { code: 'login_failed' } });
    expect(answers[1]).toEqual(answers[0]);
    expect(await actionsOf(org.id)).toEqual(['member.login_failed']);
  });

  it('is refused for a person who is only invited', async () => {
    const [one, two] = [await server.newOrg(), await server.newOrg()];
    const { id, email } = await server.newMember(one.id, 'developer');
    await server.invite(two.id, 'developer', email);
    await run(server.db, sql`DELETE FROM ${members} WHERE id = ${id}`);
    expect(await rowsWhere(server.db, logins, sql`email = ${email}`)).toHaveLength(1);
    const refused = await server.call('POST', '/v1/console/login', { body: { email, password } });
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'login_failed' } } });
  });

  it('succeeds from an address with many failed attempts for other emails [MBR-202]', async () => {
    const address = '192.0.2.1';
    const org = await server.newOrg();
    const attempt = (email: string) => server.call('POST', '/v1/console/login', { address, body: { email, password } });
    const tries = await Promise.all(Array.from({ length: 12 }, () => attempt(newEmail())));
    expect(tries.map(({ status }) => status)).toEqual(Array(12).fill(401));
    expect((await attempt(org.owner.email)).status).toBe(200);
  });

  it('reports when to retry for an email with 10 attempts in a minute [MBR-015]', async () => {
    const email = newEmail();
    const address = '192.0.2.30';
    const attempt = () => server.call('POST', '/v1/console/login', { address, body: { email, password } });
    const tries = await Promise.all(Array.from({ length: 10 }, attempt));
    expect(tries.map(({ status }) => status)).toEqual(Array(10).fill(401));
    const refused = await attempt();
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    const { retry_after_ms } = refused.body.error as unknown as { retry_after_ms: number };
    expect(retry_after_ms).toBeGreaterThan(0);
    expect(retry_after_ms).toBeLessThanOrEqual(60_000);
    expect(Number(refused.headers.get('retry-after'))).toBe(retry_after_ms / 1000);
  });

  it('is not blocked by others who try the email, from one address or from many [MBR-700]', async () => {
    const { owner } = await server.newOrg();
    const attempt = (address: string, given: string, headers = {}) =>
      server.call('POST', '/v1/console/login', { address, body: { email: owner.email, password: given }, headers });
    const first = await attempt('192.0.2.10', password);
    const mark = first.headers.getSetCookie().find((line) => line.startsWith('vestra_browser='));
    expect(mark).toMatch(/^vestra_browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=15552000$/);
    const cookie = mark?.split(';')[0] ?? '';

    await Promise.all(Array.from({ length: 11 }, () => attempt('192.0.2.66', 'wrong password here')));
    expect((await attempt('192.0.2.66', password)).status).toBe(429);
    expect((await attempt('192.0.2.10', password)).status).toBe(200);

    const many = Array.from({ length: 100 }, (_, at) => attempt(`198.51.100.${at}`, 'wrong password here'));
    await Promise.all(many);
    expect((await attempt('192.0.2.11', password)).status).toBe(429);
    expect((await attempt('192.0.2.11', password, { cookie })).status).toBe(200);
    // The mark of another person is worth nothing here, and a known browser cannot guess for ever.
    const other = `vestra_browser=${'A'.repeat(43)}`;
    expect((await attempt('192.0.2.11', password, { cookie: other })).status).toBe(429);
    const guesses = await Promise.all(
      Array.from({ length: 12 }, () => attempt('192.0.2.12', 'wrong password here', { cookie })),
    );
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(3);
  });

  it('allows 10 attempts a minute for an email and an address, with any password [MBR-015]', async () => {
    const org = await server.newOrg();
    const address = '192.0.2.31';
    const attempt = (given: string) =>
      server.call('POST', '/v1/console/login', { address, body: { email: org.owner.email, password: given } });
    await Promise.all(Array.from({ length: 10 }, () => attempt('wrong password here')));
    expect((await attempt(password)).status).toBe(429);
    const { token } = await server.invite((await server.newOrg()).id, 'developer', org.owner.email);
    const accepted = await server.call('POST', '/v1/members/accept', {
      address,
      body: { token, name: 'Olga', password },
    });
    expect(accepted.status).toBe(429);
  });

  it('counts attempts to accept an invitation by address [MBR-202]', async () => {
    const call = { address: '192.0.2.2', body: { token: 'vinv_guess', name: 'Eve', password } };
    const accept = async () => (await server.call('POST', '/v1/members/accept', call)).status;
    expect(new Set(await Promise.all(Array.from({ length: 600 }, accept)))).toEqual(new Set([404]));
    expect(await accept()).toBe(429);
  });

  it('deletes expired sessions of the person', async () => {
    const org = await server.newOrg();
    await server.logIn(org.owner.email);
    await endSessions(org.owner.email);
    await server.logIn(org.owner.email);
    const rows = await rowsWhere(server.db, consoleSessions, sql`email = ${org.owner.email}`);
    expect(rows).toHaveLength(1);
  });
});

describe('a console session', () => {
  it('shows the signed-in member, and returns 401 without a session [MBR-012, AUTH-020, AUTH-027]', async () => {
    const org = await server.newOrg();
    const member = await server.newMember(org.id, 'developer');
    const browser = await server.logIn(member.email);
    const { status, body } = await server.call('GET', '/v1/console/session', { browser });
    expect(status).toBe(200);
    expect(contract.session.response.parse(body)).toMatchObject({
      member: { id: member.id, email: member.email, role: 'developer' },
      mode: 'test',
      csrf_token: browser.csrf,
    });
    const unknown = { cookie: 'x'.repeat(43), csrf: 'x' };
    for (const call of [{}, { browser: unknown }, { key: await server.newKey(org.id, 'live', ['all']) }]) {
      const refused = await server.call('GET', '/v1/console/session', call);
      expect(refused).toMatchObject({ status: 401, body: { error: { code: 'console_login_required' } } });
    }
  });

  it('acts in the org and mode of the headers [TEN-022]', async () => {
    const [one, two, foreign] = [await server.newOrg(), await server.newOrg(), await server.newOrg()];
    const { email } = await server.newMember(one.id, 'admin');
    const second = await server.newMember(two.id, 'developer', email);
    const browser = await server.logIn(email);
    const session = (headers: Record<string, string>) =>
      server.call('GET', '/v1/console/session', { browser, headers });

    const plain = await session({});
    expect(plain.body).toMatchObject({ org: { id: one.id }, mode: 'test', member: { role: 'admin' } });
    expect(plain.body.orgs).toMatchObject([
      { id: one.id, role: 'admin' },
      { id: two.id, role: 'developer' },
    ]);
    const chosen = await session({ 'service-org': two.id, 'service-mode': 'live' });
    expect(chosen.body).toMatchObject({ org: { id: two.id }, mode: 'live', member: { id: second.id } });
    const refused = await session({ 'service-org': foreign.id });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'org_mismatch' } } });

    const list = (orgId: string) => server.call('GET', '/v1/members', { browser, headers: { 'service-org': orgId } });
    expect((await list(one.id)).status).toBe(200);
    expect(await list(two.id)).toMatchObject({ status: 403, body: { error: { code: 'role_missing' } } });
  });

  it('starts in an active org', async () => {
    const [off, on] = [await server.newOrg(), await server.newOrg()];
    const { email } = await server.newMember(off.id, 'admin');
    await server.newMember(on.id, 'admin', email);
    await run(server.db, sql`UPDATE ${orgs} SET status = 'disabled' WHERE id = ${off.id}`);
    const browser = await server.logIn(email);
    expect((await server.call('GET', '/v1/console/session', { browser })).body).toMatchObject({ org: { id: on.id } });
    const headers = { 'service-org': off.id };
    const refused = await server.call('GET', '/v1/console/session', { browser, headers });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'org_disabled' } } });
  });

  it('refuses changes without the CSRF header [MBR-014]', async () => {
    const org = await server.newOrg();
    const browser = await server.logIn(org.owner.email);
    const email = newEmail();
    for (const csrf of ['', 'x'.repeat(43)]) {
      const refused = await server.call('POST', '/v1/members', {
        browser: { ...browser, csrf },
        body: { email, role: 'developer' },
      });
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'csrf_required' } } });
    }
    expect(await rowsWhere(server.db, members, sql`email = ${email}`)).toEqual([]);
  });

  it('uses the current role of the member', async () => {
    const org = await server.newOrg();
    const member = await server.newMember(org.id, 'admin');
    const browser = await server.logIn(member.email);
    expect((await server.call('GET', '/v1/members', { browser })).status).toBe(200);
    await run(server.db, sql`UPDATE ${members} SET role = 'developer' WHERE id = ${member.id}`);
    expect((await server.call('GET', '/v1/members', { browser })).status).toBe(403);
  });

  it('expires 12 hours after its last use and 7 days after the login', async () => {
    const org = await server.newOrg();
    const browser = await server.logIn(org.owner.email);
    const hoursLeft = async () => {
      const { body } = await server.call('GET', '/v1/console/session', { browser });
      return (Date.parse(body.expires_at as string) - Date.now()) / 3_600_000;
    };
    const mine = sql`email = ${org.owner.email}`;
    expect(await hoursLeft()).toBeCloseTo(12, 1);
    await change(sql`expires_at = now() + interval '11 hours 55 minutes'`, mine);
    expect(await hoursLeft()).toBeCloseTo(11.917, 2);
    await change(sql`expires_at = now() + interval '1 hour'`, mine);
    expect(await hoursLeft()).toBeCloseTo(12, 1);
    await change(sql`created_at = now() - interval '6 days 22 hours', expires_at = now() + interval '1 hour'`, mine);
    expect(await hoursLeft()).toBeCloseTo(2, 1);
    await endSessions(org.owner.email);
    const refused = await server.call('GET', '/v1/console/session', { browser });
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'console_login_required' } } });
  });
});

describe('logging out', () => {
  it('ends this session and clears its cookie, and keeps other sessions [MBR-011]', async () => {
    const org = await server.newOrg();
    const [here, there] = [await server.logIn(org.owner.email), await server.logIn(org.owner.email)];
    const out = await server.call('POST', '/v1/console/logout', { browser: here });
    expect(out).toMatchObject({ status: 200, body: { object: 'console_session', deleted: true } });
    expect(out.headers.get('set-cookie')).toMatch(/^vestra_console=; .*Max-Age=0$/);
    expect((await server.call('GET', '/v1/console/session', { browser: here })).status).toBe(401);
    expect((await server.call('GET', '/v1/console/session', { browser: there })).status).toBe(200);
    expect(await actionsOf(org.id)).toEqual(['member.logged_in', 'member.logged_in', 'member.logged_out']);
  });
});

const change = (set: Sql, where: Sql) => run(server.db, sql`UPDATE ${consoleSessions} SET ${set} WHERE ${where}`);

const endSessions = (email: string) => change(sql`expires_at = now() - interval '1 second'`, sql`email = ${email}`);
