import { members as contract } from '@vestra/contract/members';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';
import { auditEntries } from '../audit/tables.ts';
import { newEmail, password, startConsole } from './members.fixture.ts';
import { logins, members } from './tables.ts';

let server: Awaited<ReturnType<typeof startConsole>>;
beforeAll(async () => {
  server = await startConsole();
});
afterAll(() => server.stop());

const memberRow = async (id: string) => (await rowsWhere(server.db, members, sql`id = ${id}`))[0];
const auditOf = (orgId: string, memberId: string) =>
  rowsWhere(server.db, auditEntries, sql`org_id = ${orgId} AND target_id = ${memberId} ORDER BY id`);

describe('inviting', () => {
  it('makes an invited member and answers a link that no server log sees [MBR-001, MBR-003]', async () => {
    const org = await server.newOrg();
    const browser = await server.logIn(org.owner.email);
    const { status, body } = await server.call('POST', '/v1/members', {
      browser,
      body: { email: '  New.Person@Example.COM ', role: 'developer' },
    });
    expect(status).toBe(201);
    expect(contract.invite.response.parse(body)).toMatchObject({
      object: 'member',
      email: 'new.person@example.com',
      name: null,
      role: 'developer',
      status: 'invited',
    });
    expect(body.invite_url).toMatch(/^http:\/\/localhost:4600\/console\/accept#token=vinv_[A-Za-z0-9_-]{43}$/);
    const days = (Date.parse(body.invite_expires_at as string) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(7, 2);

    const row = await memberRow(body.id as string);
    expect(row?.invite_hash).toHaveLength(32);
    expect(JSON.stringify(row)).not.toContain((body.invite_url as string).split('#token=')[1]);
    const [entry] = await auditOf(org.id, body.id as string);
    expect(entry).toMatchObject({
      action: 'member.invited',
      actor_type: 'member',
      actor_id: org.owner.id,
      mode: 'test',
    });
    expect(JSON.stringify(entry)).not.toContain('vinv_');
  });

  it('renews the link and the role of a person who has not accepted yet', async () => {
    const org = await server.newOrg();
    const key = await server.newKey(org.id, 'live', ['all']);
    const first = await server.invite(org.id, 'developer');
    const again = await server.call('POST', '/v1/members', { key, body: { email: first.email, role: 'admin' } });
    expect(again.status).toBe(201);
    expect(again.body).toMatchObject({ id: first.id, role: 'admin', status: 'invited' });

    const old = await server.call('POST', '/v1/members/accept', {
      body: { token: first.token, name: 'Ada', password },
    });
    expect(old).toMatchObject({ status: 404, body: { error: { code: 'invite_not_found' } } });
    const token = (again.body.invite_url as string).split('#token=')[1];
    const fresh = await server.call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password } });
    expect(fresh).toMatchObject({ status: 200, body: { id: first.id, role: 'admin', status: 'active' } });
  });

  it('refuses an email that an active member has', async () => {
    const org = await server.newOrg();
    const browser = await server.logIn(org.owner.email);
    const body = { email: org.owner.email.toUpperCase(), role: 'developer' };
    const refused = await server.call('POST', '/v1/members', { browser, body });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'member_exists', param: 'email' } } });
    expect(await memberRow(org.owner.id)).toMatchObject({ role: 'owner', status: 'active' });
  });

  it('gives the same link for the same idempotency key', async () => {
    const org = await server.newOrg();
    const key = await server.newKey(org.id, 'live', ['admin']);
    const call = { key, body: { email: newEmail(), role: 'admin' }, headers: { 'idempotency-key': 'invite-1' } };
    const [one, two] = [await server.call('POST', '/v1/members', call), await server.call('POST', '/v1/members', call)];
    expect(one.status).toBe(201);
    expect(two.body).toEqual(one.body);
    expect(two.headers.get('idempotent-replayed')).toBe('true');
  });

  it('keeps an admin from turning the invitation of an owner into their own', async () => {
    const org = await server.newOrg();
    const admin = await server.newMember(org.id, 'admin');
    const invited = await server.invite(org.id, 'owner');
    const browser = await server.logIn(admin.email);
    for (const role of ['owner', 'developer']) {
      const refused = await server.call('POST', '/v1/members', { browser, body: { email: invited.email, role } });
      expect(refused, role).toMatchObject({ status: 403, body: { error: { code: 'role_missing' } } });
    }
    expect(await memberRow(invited.id)).toMatchObject({ role: 'owner' });
  });

  it('of two at once leaves one member and one link that works', async () => {
    const org = await server.newOrg();
    const email = newEmail();
    const [one, two] = await Promise.all([
      server.invite(org.id, 'admin', email),
      server.invite(org.id, 'developer', email),
    ]);
    expect(one.id).toBe(two.id);
    const accept = ({ token }: { token: string }) =>
      server.call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password } });
    const statuses = [(await accept(one)).status, (await accept(two)).status];
    expect(statuses.sort()).toEqual([200, 404]);
  });

  it('takes no test key, since members act in live mode too', async () => {
    const org = await server.newOrg();
    const key = await server.newKey(org.id, 'test', ['all']);
    const refused = await server.call('POST', '/v1/members', { key, body: { email: newEmail(), role: 'developer' } });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'live_key_required' } } });
    expect((await server.call('GET', '/v1/members', { key })).status).toBe(200);
  });

  it.each(['nobody', 'a@b', '@example.com', `${'a'.repeat(320)}@example.com`])(
    'refuses %j as an email',
    async (email) => {
      const org = await server.newOrg();
      const key = await server.newKey(org.id, 'live', ['all']);
      const refused = await server.call('POST', '/v1/members', { key, body: { email, role: 'admin' } });
      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request', param: 'email' } } });
    },
  );
});

describe('accepting', () => {
  it('makes the member active and allows the login [MBR-008, MBR-013]', async () => {
    const org = await server.newOrg();
    const invited = await server.invite(org.id, 'developer');
    const { status, body } = await server.call('POST', '/v1/members/accept', {
      body: { token: invited.token, name: 'Ada', password },
    });
    expect(status).toBe(200);
    expect(contract.accept.response.parse(body)).toMatchObject({ id: invited.id, name: 'Ada', status: 'active' });
    const [login] = await rowsWhere(server.db, logins, sql`email = ${invited.email}`);
    expect(login?.password_hash).toMatch(/^\$argon2id\$/);
    await server.logIn(invited.email);
    const [, accepted] = await auditOf(org.id, invited.id);
    expect(accepted).toMatchObject({ action: 'member.accepted', actor_type: 'member', actor_id: invited.id });
    expect(accepted?.ip).toMatch(/^10\./);
  });

  it('works once, and not after seven days', async () => {
    const org = await server.newOrg();
    const body = { name: 'Ada', password };
    const used = await server.invite(org.id, 'developer');
    await server.call('POST', '/v1/members/accept', { body: { ...body, token: used.token } });
    const late = await server.invite(org.id, 'developer');
    await run(
      server.db,
      sql`UPDATE ${members} SET invite_expires_at = now() - interval '1 second' WHERE id = ${late.id}`,
    );
    for (const token of [used.token, late.token, 'vinv_unknown']) {
      const refused = await server.call('POST', '/v1/members/accept', { body: { ...body, token } });
      expect(refused).toMatchObject({ status: 404, body: { error: { code: 'invite_not_found' } } });
    }
  });

  it('asks a person who has a login for its password, and keeps that password', async () => {
    const [one, two] = [await server.newOrg(), await server.newOrg()];
    const { email } = await server.newMember(one.id, 'developer');
    const { token } = await server.invite(two.id, 'admin', email);
    const accept = (given: string) =>
      server.call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password: given } });
    expect(await accept('another password')).toMatchObject({ status: 401, body: { error: { code: 'login_failed' } } });
    expect((await accept(password)).status).toBe(200);
    await server.logIn(email);
  });

  it('of two invitations of one new email at once, with two passwords, lets the first one count', async () => {
    const [one, two] = [await server.newOrg(), await server.newOrg()];
    const email = newEmail();
    const tokens = [await server.invite(one.id, 'developer', email), await server.invite(two.id, 'developer', email)];
    const passwords = ['the first password', 'the second password'];
    const answers = await Promise.all(
      tokens.map(({ token }, at) =>
        server.call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password: passwords[at] } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    for (const [at, { status }] of answers.entries()) {
      const login = await server.call('POST', '/v1/console/login', { body: { email, password: passwords[at] } });
      expect(login.status).toBe(status);
    }
  });

  it('wants at least 12 characters of a password', async () => {
    const org = await server.newOrg();
    const { token } = await server.invite(org.id, 'developer');
    const refused = await server.call('POST', '/v1/members/accept', {
      body: { token, name: 'Ada', password: 'short' },
    });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'password' } } });
  });
});
