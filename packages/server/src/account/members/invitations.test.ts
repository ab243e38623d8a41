import { members as contract } from '@vestra/contract/members';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { insert, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { auditEntries, logins, members, passkeys } from '../tables.ts';
import { newEmail, password, startConsole } from './members.fixture.ts';
import { createOperatorResetLink } from './passwords.ts';

let server: Awaited<ReturnType<typeof startConsole>>;
beforeAll(async () => {
  server = await startConsole();
});
afterAll(() => server.stop());

const memberRow = async (id: string) => (await rowsWhere(server.db, members, sql`id = ${id}`))[0];
const auditOf = (orgId: string, memberId: string) =>
  rowsWhere(server.db, auditEntries, sql`org_id = ${orgId} AND target_id = ${memberId} ORDER BY id`);

describe('inviting', () => {
  it('creates an invited member and returns a link that no server log contains [MBR-001, MBR-003]', async () => {
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

  it('refuses the email of an active member', async () => {
    const org = await server.newOrg();
    const browser = await server.logIn(org.owner.email);
    const body = { email: org.owner.email.toUpperCase(), role: 'developer' };
    const refused = await server.call('POST', '/v1/members', { browser, body });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'member_exists', param: 'email' } } });
    expect(await memberRow(org.owner.id)).toMatchObject({ role: 'owner', status: 'active' });
  });

  it('returns the same link for the same idempotency key', async () => {
    const org = await server.newOrg();
    const key = await server.newKey(org.id, 'live', ['admin']);
    const call = { key, body: { email: newEmail(), role: 'admin' }, headers: { 'idempotency-key': 'invite-1' } };
    const [one, two] = [await server.call('POST', '/v1/members', call), await server.call('POST', '/v1/members', call)];
    expect(one.status).toBe(201);
    expect(two.body).toEqual(one.body);
    expect(two.headers.get('idempotent-replayed')).toBe('true');
  });

  it('does not let an admin take over the invitation of an owner', async () => {
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

  it('leaves one member and one valid link after two concurrent invitations', async () => {
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

  it('refuses test keys, because members also act in live mode', async () => {
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

describe('accepting an invitation', () => {
  it('activates the member and allows the login [MBR-008, MBR-013]', async () => {
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

  it('works once, within seven days', async () => {
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

  it('creates two logins for concurrent invitations of a new email with two passwords [MBR-610]', async () => {
    const orgs = [await server.newOrg(), await server.newOrg()];
    const email = newEmail();
    const passwords = ['the first password', 'the second password'];
    const tokens = await Promise.all(orgs.map(async ({ id }) => (await server.invite(id, 'developer', email)).token));
    const answers = await Promise.all(tokens.map((token, at) => accept(token, passwords[at] as string)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const [at, { id }] of orgs.entries()) expect(await orgsOf(email, passwords[at] as string)).toEqual([id]);
  });

  it('requires a password of at least 12 characters', async () => {
    const org = await server.newOrg();
    const { token } = await server.invite(org.id, 'developer');
    const refused = await server.call('POST', '/v1/members/accept', {
      body: { token, name: 'Ada', password: 'short' },
    });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'password' } } });
  });
});

const accept = (token: string, given = password) =>
  server.call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password: given } });

const signIn = (email: string, given = password) =>
  server.call('POST', '/v1/console/login', { body: { email, password: given } });

/** The orgs that a sign-in opens. Null if it is refused. */
async function orgsOf(email: string, given = password): Promise<string[] | null> {
  const { status, body } = await signIn(email, given);
  return status === 200 ? (body.orgs as { id: string }[]).map(({ id }) => id) : null;
}

describe('an email that another org has invited', () => {
  const evilPassword = 'known to the other org';

  /** Evil has invited the email and accepted the invitation itself. BigCo invites the person. */
  async function attacked() {
    const [evil, bigCo] = [await server.newOrg(), await server.newOrg()];
    const email = newEmail();
    const planted = await server.invite(evil.id, 'developer', email);
    expect((await accept(planted.token, evilPassword)).status).toBe(200);
    const browser = await browserOf(email, evilPassword);
    const invited = await server.invite(bigCo.id, 'admin', email);
    const keys = {
      evil: await server.newKey(evil.id, 'live', ['all']),
      bigCo: await server.newKey(bigCo.id, 'live', ['all']),
    };
    return { evil, bigCo, email, planted, invited, browser, keys };
  }

  async function browserOf(email: string, given: string) {
    const { headers, body } = await signIn(email, given);
    const cookie = /^vestra_console=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] as string;
    return { cookie, csrf: body.csrf_token as string };
  }

  const seenBy = async (browser: { cookie: string; csrf: string }) => {
    const { status, body } = await server.call('GET', '/v1/console/session', { browser });
    return status === 200 ? (body.orgs as { id: string }[]).map(({ id }) => id) : null;
  };

  async function reset(key: string, memberId: string, given: string): Promise<number[]> {
    const link = await server.call('POST', `/v1/members/${memberId}/password-reset`, { key });
    const token = String(link.body.reset_url).split('#token=')[1];
    const used = await server.call('POST', '/v1/console/password-reset', { body: { token, password: given } });
    return [link.status, used.status];
  }

  it('can be accepted with the person’s password, and neither password opens the other org [MBR-610]', async () => {
    const { evil, bigCo, email, invited, browser } = await attacked();
    const accepted = await accept(invited.token);
    expect(accepted).toMatchObject({ status: 200, body: { id: invited.id, email, role: 'admin', status: 'active' } });
    expect(await orgsOf(email)).toEqual([bigCo.id]);
    expect(await orgsOf(email, evilPassword)).toEqual([evil.id]);
    expect(await seenBy(browser)).toEqual([evil.id]);
    expect(await orgsOf(email, 'neither of the two')).toBeNull();
  });

  it('is a separate member in each org: to list, change, reset and remove [MBR-610]', async () => {
    const { evil, bigCo, email, planted, invited, keys } = await attacked();
    await accept(invited.token);
    expect(await reset(keys.evil, planted.id, 'reset by the other org')).toEqual([201, 200]);
    expect(await orgsOf(email, 'reset by the other org')).toEqual([evil.id]);
    expect(await reset(keys.bigCo, invited.id, 'reset by the company')).toEqual([201, 200]);
    expect(await orgsOf(email, 'reset by the company')).toEqual([bigCo.id]);
    const listed = await server.call('GET', '/v1/members', { key: keys.bigCo });
    expect((listed.body.data as { email: string }[]).filter((each) => each.email === email)).toHaveLength(1);
    const changed = await server.call('PATCH', `/v1/members/${invited.id}`, {
      key: keys.bigCo,
      body: { role: 'developer' },
    });
    expect(changed.body).toMatchObject({ role: 'developer' });
    expect(await server.call('DELETE', `/v1/members/${planted.id}`, { key: keys.evil })).toMatchObject({ status: 200 });
    expect(await orgsOf(email, 'reset by the other org')).toBeNull();
    expect(await orgsOf(email, 'reset by the company')).toEqual([bigCo.id]);
    await server.call('DELETE', `/v1/members/${invited.id}`, { key: keys.bigCo });
    expect(await rowsWhere(server.db, logins, sql`email = ${email} OR address = ${email}`)).toEqual([]);
  });

  it('can be accepted while the other org resets the password [MBR-610]', async () => {
    const [evil, bigCo] = [await server.newOrg(), await server.newOrg()];
    const person = await server.newMember(evil.id, 'developer');
    const { token } = await server.invite(bigCo.id, 'developer', person.email);
    const key = await server.newKey(evil.id, 'live', ['all']);
    expect(await reset(key, person.id, evilPassword)).toEqual([201, 200]);
    expect((await accept(token)).status).toBe(200);
    expect(await orgsOf(person.email)).toEqual([bigCo.id]);
    expect(await orgsOf(person.email, evilPassword)).toEqual([evil.id]);
  });

  it('shares one login if the passwords are equal, and earlier sessions do not open both orgs [MBR-611]', async () => {
    const { evil, bigCo, email, invited, browser, planted, keys } = await attacked();
    const link = await server.call('POST', `/v1/members/${planted.id}/password-reset`, { key: keys.evil });
    expect((await accept(invited.token, evilPassword)).status).toBe(200);
    expect(await seenBy(browser)).toBeNull();
    expect(await orgsOf(email, evilPassword)).toEqual([evil.id, bigCo.id]);
    const { length } = await rowsWhere(server.db, logins, sql`email = ${email} OR address = ${email}`);
    expect(length).toBe(1);
    // No org may reset a login that opens another org.
    const token = String(link.body.reset_url).split('#token=')[1];
    const used = await server.call('POST', '/v1/console/password-reset', { body: { token, password } });
    expect(used.status).toBe(404);
    for (const [key, id] of [
      [keys.evil, planted.id],
      [keys.bigCo, invited.id],
    ]) {
      const refused = await server.call('POST', `/v1/members/${id}/password-reset`, { key: key as string });
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'member_of_other_orgs' } } });
    }
  });

  it('deletes earlier passkeys of a login that joins another org [MBR-611]', async () => {
    const { bigCo, email, invited } = await attacked();
    const planted = { id: 'pky_planted', email, name: 'Planted', credential_id: `planted ${email}` };
    await insert(server.db, passkeys, { ...planted, public_key: Buffer.alloc(1), counter: 0, transports: [] });
    expect((await accept(invited.token, evilPassword)).status).toBe(200);
    expect(await rowsWhere(server.db, passkeys, sql`email = ${email}`)).toEqual([]);
    expect(await orgsOf(email, evilPassword)).toContain(bigCo.id);
  });

  it('gets one login again when the person sets the same password in both orgs [MBR-611]', async () => {
    const { evil, bigCo, email, invited, browser } = await attacked();
    await accept(invited.token);
    const person = await browserOf(email, password);
    const change = (from: string, to: string) =>
      server.call('POST', '/v1/console/account/password', { browser, body: { password: from, new_password: to } });
    expect((await change('not the password', password)).status).not.toBe(200);
    expect((await change(evilPassword, password)).status).toBe(200);
    expect([await seenBy(browser), await seenBy(person)]).toEqual([[evil.id], [bigCo.id]]);
    expect(await orgsOf(email)).toEqual([evil.id, bigCo.id]);
    expect([await seenBy(browser), await seenBy(person)]).toEqual([null, null]);
    const { length } = await rowsWhere(server.db, logins, sql`email = ${email} OR address = ${email}`);
    expect(length).toBe(1);
  });

  it('signs in with one computation, however many orgs have invited the email [MBR-612]', async () => {
    const { bigCo, email, invited } = await attacked();
    for (let at = 0; at < 6; at++) {
      const { token } = await server.invite((await server.newOrg()).id, 'developer', email);
      expect((await accept(token, `another org's password ${at}`)).status).toBe(200);
    }
    expect((await accept(invited.token)).status).toBe(200);
    const rows = await rowsWhere(server.db, logins, sql`email = ${email} OR address = ${email}`);
    expect(rows).toHaveLength(8);
    expect(new Set(rows.map(({ password_hash }) => password_hash.split('$').slice(0, -1).join('$'))).size).toBe(1);
    expect(await orgsOf(email)).toEqual([bigCo.id]);
  });

  it('gets a single login from an operator’s link [MBR-613]', async () => {
    const { evil, bigCo, email, invited, browser } = await attacked();
    await accept(invited.token);
    const link = await transaction(server.db, (tx) =>
      createOperatorResetLink(tx, { email, publicUrl: 'http://localhost:4600' }),
    );
    const token = String(link?.reset_url).split('#token=')[1];
    const used = await server.call('POST', '/v1/console/password-reset', {
      body: { token, password: 'chosen by the person' },
    });
    expect(used).toMatchObject({ status: 200, body: { email } });
    expect(await orgsOf(email, 'chosen by the person')).toEqual([evil.id, bigCo.id]);
    expect([await seenBy(browser), await orgsOf(email), await orgsOf(email, evilPassword)]).toEqual([null, null, null]);
  });
});
