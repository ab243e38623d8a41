import { consoleAccount as contract } from '@vestra/contract/console-account';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { auditEntries, passwordResets } from '../tables.ts';
import { deviceOf } from './console-sessions.ts';
import { newEmail, password, startConsole } from './members.fixture.ts';
import { createOperatorResetLink } from './passwords.ts';

const newPassword = 'a horse that is new';

let server: Awaited<ReturnType<typeof startConsole>>;
beforeAll(async () => {
  server = await startConsole();
});
afterAll(() => server.stop());

type Browser = Awaited<ReturnType<typeof server.logIn>>;

const isIn = async (browser: Browser) => (await server.call('GET', '/v1/console/session', { browser })).status === 200;
const logsIn = async (email: string, given: string) =>
  (await server.call('POST', '/v1/console/login', { body: { email, password: given } })).status;
const actionsOn = async (memberId: string) =>
  (await rowsWhere(server.db, auditEntries, sql`target_id = ${memberId} ORDER BY id`)).map(({ action }) => action);

describe('the account of a signed-in member', () => {
  it('shows the member and accepts a new name, for any role [MBR-400]', async () => {
    const org = await server.newOrg();
    const member = await server.newMember(org.id, 'developer');
    const browser = await server.logIn(member.email);
    const named = await server.call('PATCH', '/v1/console/account', { browser, body: { name: 'Ada Lovelace' } });
    expect(contract.update.response.parse(named.body)).toMatchObject({
      member: { id: member.id, name: 'Ada Lovelace' },
    });
    const { body } = await server.call('GET', '/v1/console/account', { browser });
    expect(body).toMatchObject({ has_password: true, member: { name: 'Ada Lovelace', role: 'developer' } });
    expect(await actionsOn(member.id)).toContain('member.updated');
  });

  it('changes the password and ends all other sessions [MBR-401]', async () => {
    const org = await server.newOrg();
    const { email, id } = org.owner;
    const [here, there] = [await server.logIn(email), await server.logIn(email)];
    const change = (given: string) =>
      server.call('POST', '/v1/console/account/password', {
        browser: here,
        body: { password: given, new_password: newPassword },
      });
    expect(await change('not the password')).toMatchObject({
      status: 403,
      body: { error: { code: 'password_wrong' } },
    });
    expect(await isIn(there)).toBe(true);

    // The second of two concurrent changes was checked against a replaced password.
    const both = await Promise.all([change(password), change(password)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
    expect([await isIn(here), await isIn(there)]).toEqual([true, false]);
    expect([await logsIn(email, password), await logsIn(email, newPassword)]).toEqual([401, 200]);
    expect((await actionsOn(id)).filter((action) => action === 'member.password_changed')).toHaveLength(1);
  });

  it('counts attempts with the current password like login attempts [MBR-401]', async () => {
    const org = await server.newOrg();
    const browser = await server.logIn(org.owner.email);
    const address = '192.0.2.20';
    const change = () =>
      server.call('POST', '/v1/console/account/password', {
        browser,
        address,
        body: { password: 'not the password', new_password: newPassword },
      });
    await Promise.all(Array.from({ length: 10 }, change));
    expect(await change()).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    const { status } = await server.call('POST', '/v1/console/login', {
      address,
      body: { email: org.owner.email, password },
    });
    expect(status).toBe(429);
  });
});

describe('the sessions of a login', () => {
  it('are listed with device, address and last use, and can be ended singly or all but the current one [MBR-402]', async () => {
    const org = await server.newOrg();
    const { email } = org.owner;
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const body = { email, password };
    await server.call('POST', '/v1/console/login', { body, address: '192.0.2.7', headers: { 'user-agent': agent } });
    const [second, here] = [await server.logIn(email), await server.logIn(email)];
    const list = async () => {
      const answer = await server.call('GET', '/v1/console/sessions', { browser: here });
      return contract.signIns.response.parse(answer.body).data;
    };
    const listed = await list();
    expect(listed).toHaveLength(3);
    expect(listed.map(({ is_current }) => is_current)).toEqual([true, false, false]);
    expect(listed[2]).toMatchObject({ device: 'Firefox on Linux', ip: '192.0.2.7' });
    expect(Date.now() - Date.parse(listed[2]?.last_seen_at as string)).toBeLessThan(60_000);

    const end = (id: string, browser: Browser) => server.call('DELETE', `/v1/console/sessions/${id}`, { browser });
    const stranger = await server.logIn((await server.newOrg()).owner.email);
    const foreign = await end(listed[1]?.id as string, stranger);
    expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'console_session_not_found' } } });
    expect(await isIn(second)).toBe(true);
    expect((await end(listed[1]?.id as string, here)).status).toBe(200);
    expect(await isIn(second)).toBe(false);

    const others = await server.call('DELETE', '/v1/console/sessions', { browser: here });
    expect(others).toMatchObject({ status: 200, body: { ended: 1 } });
    expect(await list()).toMatchObject([{ is_current: true }]);
    expect(await isIn(stranger)).toBe(true);
  });

  it.each([
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.5.0', 'An unknown browser'],
    [null, 'An unknown browser'],
  ])('shows %j as %j', (userAgent, expected) => expect(deviceOf(userAgent)).toBe(expected));
});

describe('resetting a password', () => {
  const linkFor = (memberId: string, by: { browser?: Browser; key?: string }) =>
    server.call('POST', `/v1/members/${memberId}/password-reset`, by);
  const tokenOf = (url: unknown) => String(url).split('#token=')[1] as string;
  const use = (token: string, given = newPassword) =>
    server.call('POST', '/v1/console/password-reset', { body: { token, password: given } });

  it('works once with a link, and ends every session [MBR-403]', async () => {
    const org = await server.newOrg();
    const member = await server.newMember(org.id, 'developer');
    const before = await server.logIn(member.email);
    const key = await server.newKey(org.id, 'live', ['admin']);
    const older = await linkFor(member.id, { key });
    const made = await linkFor(member.id, { browser: await server.logIn(org.owner.email) });
    expect(made).toMatchObject({ status: 201, body: { object: 'password_reset', member_id: member.id } });
    expect(made.body.reset_url).toMatch(/^http:\/\/localhost:4600\/console\/reset#token=vrst_[A-Za-z0-9_-]{43}$/);
    const hours = (Date.parse(made.body.reset_expires_at as string) - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);

    const token = tokenOf(made.body.reset_url);
    const [stored] = await rowsWhere(server.db, passwordResets, sql`email = ${member.email}`);
    expect(JSON.stringify(stored)).not.toContain(token);
    const uses = await Promise.all([use(token), use(token, 'another horse entirely')]);
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await isIn(before)).toBe(false);
    expect(await logsIn(member.email, password)).toBe(401);
    const refused = await use(tokenOf(older.body.reset_url));
    expect(refused).toMatchObject({ status: 404, body: { error: { code: 'reset_not_found' } } });
    expect((await actionsOn(member.id)).filter((action) => action.includes('password'))).toEqual([
      'member.password_reset_made',
      'member.password_reset_made',
      'member.password_reset',
    ]);
  });

  it('fails when the link is older than a day', async () => {
    const org = await server.newOrg();
    const made = await linkFor(org.owner.id, { key: await server.newKey(org.id, 'live', ['all']) });
    await run(
      server.db,
      sql`UPDATE ${passwordResets} SET expires_at = now() - interval '1 minute' WHERE email = ${org.owner.email}`,
    );
    expect((await use(tokenOf(made.body.reset_url))).status).toBe(404);
    expect(await logsIn(org.owner.email, password)).toBe(200);
  });

  it('never gives access to another org, neither when the link is created nor when it is used [MBR-404]', async () => {
    const [org, other] = [await server.newOrg(), await server.newOrg()];
    const { id, email } = await server.newMember(org.id, 'developer');
    const key = await server.newKey(org.id, 'live', ['all']);
    const made = await linkFor(id, { key });
    expect(made.status).toBe(201);
    await server.newMember(other.id, 'admin', email);
    expect(await use(tokenOf(made.body.reset_url))).toMatchObject({ status: 404 });
    expect(await linkFor(id, { key })).toMatchObject({
      status: 409,
      body: { error: { code: 'member_of_other_orgs' } },
    });
    expect(await logsIn(email, password)).toBe(200);
    const stranger = await server.newKey(other.id, 'live', ['all']);
    expect(await linkFor(org.owner.id, { key: stranger })).toMatchObject({ status: 404 });
  });

  it('needs an owner for an owner’s password, and never works with a test key [MBR-403]', async () => {
    const org = await server.newOrg();
    const admin = await server.newMember(org.id, 'admin');
    const developer = await server.newMember(org.id, 'developer');
    const [asAdmin, asDeveloper] = [await server.logIn(admin.email), await server.logIn(developer.email)];
    expect(await linkFor(org.owner.id, { browser: asAdmin })).toMatchObject({
      body: { error: { code: 'role_missing' } },
    });
    expect(await linkFor(admin.id, { browser: asDeveloper })).toMatchObject({
      body: { error: { code: 'role_missing' } },
    });
    expect((await linkFor(developer.id, { browser: asAdmin })).status).toBe(201);
    const key = await server.newKey(org.id, 'test', ['all']);
    expect(await linkFor(developer.id, { key })).toMatchObject({ body: { error: { code: 'live_key_required' } } });
    const invited = await server.invite(org.id, 'developer');
    expect(await linkFor(invited.id, { browser: asAdmin })).toMatchObject({
      status: 409,
      body: { error: { code: 'password_not_used' } },
    });
  });

  it('works for the last owner with an operator’s link, whatever orgs the login opens [MBR-405]', async () => {
    const [org, other] = [await server.newOrg(), await server.newOrg()];
    await server.newMember(other.id, 'developer', org.owner.email);
    const publicUrl = 'http://localhost:4600';
    const made = await transaction(server.db, (tx) =>
      createOperatorResetLink(tx, { email: ` ${org.owner.email.toUpperCase()}`, publicUrl }),
    );
    expect((await use(tokenOf(made?.reset_url))).body).toEqual({ object: 'password_reset', email: org.owner.email });
    expect(await logsIn(org.owner.email, newPassword)).toBe(200);
    expect(
      await transaction(server.db, (tx) => createOperatorResetLink(tx, { email: newEmail(), publicUrl })),
    ).toBeNull();
  });
});
