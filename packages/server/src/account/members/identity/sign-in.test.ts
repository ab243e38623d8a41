import type { KeyObject } from 'node:crypto';
import { identityProvider as contract } from '@vestra/contract/identity-provider';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../../tests/support/rows.ts';
import { insert, one, run } from '../../../platform/db/query.ts';
import { sql } from '../../../platform/db/sql.ts';
import { integer } from '../../../platform/db/table.ts';
import { refuseAddress } from '../../../platform/outbound/address.ts';
import { createOutbound } from '../../../platform/outbound/fetcher.ts';
import {
  auditEntries,
  consoleSessions,
  identityProviders,
  memberIdentities,
  members,
  signInAttempts,
} from '../../tables.ts';
import { newEmail, password, publicUrl, startConsole } from '../members.fixture.ts';
import { type Company, newKey, startCompany } from './company.fixture.ts';
import { createIdentityProviders } from './identity-provider.ts';

const callback = `${publicUrl}/v1/console/sign-in/callback`;

let server: Awaited<ReturnType<typeof startConsole>>;
let company: Company;
beforeAll(async () => {
  [server, company] = await Promise.all([startConsole(), startCompany(callback)]);
});
afterAll(() => Promise.all([server.stop(), company.stop()]));
beforeEach(() => {
  company.lies = null;
});

type Settings = Record<string, unknown>;

const settings = (): Settings => ({
  issuer: company.issuer,
  client_id: company.clientId,
  client_secret: company.clientSecret,
  allowed_domains: ['Example.com'],
  default_role: 'developer',
});

/** An org with an identity provider. */
async function newOrg(more: Settings = {}) {
  const org = await server.newOrg();
  const key = await server.newKey(org.id, 'live', ['all']);
  const set = (changed: Settings) =>
    server.call('PUT', '/v1/identity-provider', { key, body: { ...settings(), ...changed } });
  const answer = await set(more);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return { ...org, key, set };
}

/** Another org has invited the email and accepted the invitation itself. */
async function planted(email: string) {
  const { token } = await server.invite((await server.newOrg()).id, 'developer', email);
  const body = { token, name: 'Eve', password: 'known to the other org' };
  expect((await server.call('POST', '/v1/members/accept', { body })).status).toBe(200);
}

/** A new person with a verified email. */
function sits(email: string, more: Settings = {}, sub = `sub-of-${email}`) {
  company.person = { sub, claims: { email, email_verified: true, name: 'Ada Lovelace', ...more } };
}

const cookieOf = (headers: Headers, name: string) =>
  headers
    .getSetCookie()
    .find((each) => each.startsWith(`${name}=`))
    ?.slice(name.length + 1)
    .split(';')[0] ?? '';

const begin = async (orgId: string, query = '') => {
  const response = await server.open(`/v1/console/sign-in/${orgId}${query}`);
  return { url: response.headers.get('location') as string, attempt: cookieOf(response.headers, 'vestra_sign_in') };
};

const comeBack = async (url: URL, attempt: string) => {
  const response = await server.open(`${url.pathname}${url.search}`, `vestra_sign_in=${attempt}`);
  const location = new URL(response.headers.get('location') as string);
  return {
    path: location.pathname,
    error: location.searchParams.get('sign_in_error'),
    cookie: cookieOf(response.headers, 'vestra_console'),
  };
};

const signIn = async (orgId: string, query = '') => {
  const { url, attempt } = await begin(orgId, query);
  return comeBack(await company.signIn(url), attempt);
};

const sessionOf = (cookie: string, headers: Record<string, string> = {}) =>
  server.call('GET', '/v1/console/session', { browser: { cookie, csrf: '' }, headers });

const membersOf = (orgId: string, email: string) =>
  rowsWhere(server.db, members, sql`org_id = ${orgId} AND email = ${email}`);

/** How many statements wait for a lock of another one. */
const waitingForLock = async () => {
  const counted = sql`SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return (await one(server.db, { count: integer() }, counted)).count;
};

describe('the identity provider of an org', () => {
  it('is set by an owner, applies to both modes and never shows its secret [MBR-410]', async () => {
    const org = await newOrg({ role_claim: 'groups', roles_by_claim: { bosses: 'admin' } });
    const testKey = await server.newKey(org.id, 'test', ['admin']);
    const { body } = await server.call('GET', '/v1/identity-provider', { key: testKey });
    expect(contract.get.response.parse(body)).toMatchObject({
      issuer: company.issuer,
      has_client_secret: true,
      allowed_domains: ['example.com'],
      password_sign_in: true,
      redirect_uri: callback,
      sign_in_url: `${publicUrl}/v1/console/sign-in/${org.id}`,
    });
    expect(JSON.stringify(body)).not.toContain(company.clientSecret);
    const [row] = await rowsWhere(server.db, identityProviders, sql`org_id = ${org.id}`);
    expect(row?.sealed_client_secret?.includes(company.clientSecret)).toBe(false);
    const entries = await rowsWhere(server.db, auditEntries, sql`org_id = ${org.id} AND action LIKE 'identity%'`);
    expect(JSON.stringify(entries)).not.toContain(company.clientSecret);

    const admin = await server.logIn((await server.newMember(org.id, 'admin')).email);
    const adminKey = await server.newKey(org.id, 'live', ['admin']);
    const testAll = await server.newKey(org.id, 'test', ['all']);
    const put = async (by: object) =>
      (await server.call('PUT', '/v1/identity-provider', { ...by, body: settings() })).body.error?.code;
    expect(await put({ browser: admin })).toBe('role_missing');
    expect(await put({ key: adminKey })).toBe('scope_missing');
    expect(await put({ key: testAll })).toBe('live_key_required');
    expect(await put({ browser: await server.logIn(org.owner.email) })).toBeUndefined();
  });

  it('is checked when it is set, and refused if it is unreachable or has another issuer [MBR-410]', async () => {
    const org = await newOrg();
    for (const issuer of ['http://127.0.0.1:1', `${company.issuer}/other`]) {
      const { status, body } = await org.set({ issuer });
      expect([issuer, status, body.error?.code]).toEqual([issuer, 502, 'identity_provider_error']);
    }
  });

  it('never receives the secret of another provider', async () => {
    const org = await newOrg();
    const kept = await org.set({ client_secret: undefined });
    expect(kept.body.has_client_secret).toBe(true);
    const moved = await org.set({ client_secret: undefined, client_id: 'another' });
    expect(moved.body.has_client_secret).toBe(false);
  });

  it('may not have a private address unless the operator allows it', async () => {
    const outbound = createOutbound({ allowPrivate: false });
    const closed = createIdentityProviders({
      outbound,
      refuseAddress: (url) => refuseAddress(url, { allowPrivate: false }),
    });
    const provider = { issuer: company.issuer, clientId: 'vestra', clientSecret: null };
    expect(await closed.check(provider)).toMatchObject({ ok: false, reason: 'unreachable' });
    await outbound.close();
  });
});

describe('signing in with the identity provider', () => {
  it('creates a member by the org’s rules, with access to this org only [MBR-411, MBR-413]', async () => {
    const org = await newOrg({ role_claim: 'groups', roles_by_claim: { bosses: 'admin', guests: 'developer' } });
    const email = newEmail();
    sits(email.toUpperCase(), { groups: ['guests', 'bosses', 7] });
    const first = await signIn(org.id, '?return_to=/console/deployments');
    expect(first).toMatchObject({ path: '/console/deployments', error: null });
    const { body } = await sessionOf(first.cookie);
    expect(body).toMatchObject({ member: { email, role: 'admin', name: 'Ada Lovelace' }, org: { id: org.id } });
    expect(body.orgs).toHaveLength(1);

    // The email has a login in another org. Neither sign-in opens the other org.
    const other = await server.newOrg();
    await server.newMember(other.id, 'owner', email);
    const foreign = await sessionOf(first.cookie, { 'service-org': other.id });
    expect(foreign).toMatchObject({ status: 403, body: { error: { code: 'org_mismatch' } } });
    const byPassword = await server.logIn(email);
    expect((await sessionOf(byPassword.cookie)).body.orgs).toMatchObject([{ id: other.id }]);

    company.person.claims.groups = ['guests'];
    const again = await signIn(org.id);
    expect((await sessionOf(again.cookie)).body.member).toMatchObject({ role: 'admin' });
    expect(await membersOf(org.id, email)).toHaveLength(1);
    const account = await server.call('GET', '/v1/console/account', { browser: { cookie: again.cookie, csrf: '' } });
    expect(account.body).toMatchObject({
      has_password: false,
      has_identity_provider: true,
      linked_identity: { issuer: company.issuer, email },
    });
    const actions = await rowsWhere(
      server.db,
      auditEntries,
      sql`target_id = ${(account.body.member as { id: string }).id} ORDER BY id`,
    );
    expect(actions.map(({ action }) => action)).toEqual(['member.created', 'member.logged_in', 'member.logged_in']);
  });

  it('creates one member for two concurrent sign-ins of a new person', async () => {
    const org = await newOrg();
    const email = newEmail();
    sits(email);
    const both = await Promise.all([signIn(org.id), signIn(org.id)]);
    expect(both.map(({ error }) => error)).toEqual([null, null]);
    expect(await membersOf(org.id, email)).toHaveLength(1);
  });

  it('lets an invited person sign in twice at once', async () => {
    const org = await newOrg();
    const { email } = await server.invite(org.id, 'admin');
    sits(email);
    const holder = await server.db.$client.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM members WHERE org_id = $1 AND email = $2 FOR UPDATE', [org.id, email]);
    const both = Promise.all([signIn(org.id), signIn(org.id)]);
    // Both have found no account of this person, and wait for the member.
    await expect.poll(waitingForLock).toBe(2);
    await holder.query('COMMIT');
    holder.release();
    expect((await both).map(({ error }) => error)).toEqual([null, null]);
    expect(await rowsWhere(server.db, memberIdentities, sql`email = ${email}`)).toHaveLength(1);
  });

  it('gives invited people the role of their invitation, and refuses others if the rules give no role', async () => {
    const org = await newOrg({ default_role: null });
    const { email } = await server.invite(org.id, 'admin');
    sits(email);
    expect((await sessionOf((await signIn(org.id)).cookie)).body.member).toMatchObject({ role: 'admin' });
    sits(newEmail());
    expect(await signIn(org.id)).toMatchObject({ path: '/console/login', error: 'not_a_member', cookie: '' });
  });

  it('refuses unverified emails and emails of other domains [MBR-412]', async () => {
    const org = await newOrg();
    sits(newEmail(), { email_verified: false });
    expect((await signIn(org.id)).error).toBe('email_unverified');
    sits('ada@example.com.evil.org');
    expect((await signIn(org.id)).error).toBe('email_not_allowed');
  });

  it.each([
    ['the only login of the email', false],
    ['one of two logins of the email', true],
  ])(
    'does not take over a member with a password, %s, until they link the account themselves [MBR-413, MBR-430, MBR-610]',
    async (_, hasOther) => {
      const org = await newOrg();
      const email = newEmail();
      if (hasOther) await planted(email);
      await server.newMember(org.id, 'admin', email);
      sits(email);
      expect(await signIn(org.id)).toMatchObject({ error: 'link_required', cookie: '' });

      const browser = await server.logIn(email);
      const begun = await server.call('POST', '/v1/console/sign-in/link', { browser });
      const attempt = cookieOf(begun.headers, 'vestra_sign_in');
      const back = await company.signIn(begun.body.url as string);
      // Another browser cannot finish the attempt, and does not consume it.
      expect(await comeBack(back, 'another')).toMatchObject({ error: 'expired' });
      expect(await comeBack(back, attempt)).toMatchObject({ path: '/console/account', error: null, cookie: '' });
      const linked = await signIn(org.id);
      expect((await sessionOf(linked.cookie)).body.member).toMatchObject({ email, role: 'admin' });
      expect((await sessionOf((await server.logIn(email)).cookie)).status).toBe(200);

      // An account has one member, and a member has one account.
      const second = await server.logIn((await server.newMember(org.id, 'developer')).email);
      const stolen = await server.call('POST', '/v1/console/sign-in/link', { browser: second });
      const taken = await comeBack(
        await company.signIn(stolen.body.url as string),
        cookieOf(stolen.headers, 'vestra_sign_in'),
      );
      // The member is still signed in, so the account page shows the error.
      expect(taken).toMatchObject({ error: 'another_identity', path: '/console/account', cookie: '' });
      const tried = await server.call('POST', '/v1/console/sign-in/link', { browser });
      const sameAgain = await comeBack(
        await company.signIn(tried.body.url as string),
        cookieOf(tried.headers, 'vestra_sign_in'),
      );
      expect(sameAgain).toMatchObject({ error: null, path: '/console/account', cookie: '' });
      sits(email, {}, 'somebody-else');
      expect((await signIn(org.id)).error).toBe('another_identity');

      const unlinked = await server.call('DELETE', '/v1/console/sign-in/link', { browser });
      expect(unlinked.status).toBe(200);
      expect((await sessionOf(linked.cookie)).status).toBe(401);
      const { body } = await sessionOf((await server.logIn(email)).cookie);
      expect(body.orgs).toMatchObject([{ id: org.id }]);
    },
  );

  it.each([false, true])(
    'can replace passwords for members who have linked it, except owners; another login of the email: %j [MBR-414, MBR-610]',
    async (hasOther) => {
      const org = await newOrg();
      const email = newEmail();
      if (hasOther) await planted(email);
      const { id } = await server.newMember(org.id, 'developer', email);
      const link = (member_id: string) =>
        insert(server.db, memberIdentities, { member_id, org_id: org.id, issuer: 'x', subject: member_id, email });
      const browser = await server.logIn(email);
      await org.set({ password_sign_in: false });
      expect((await sessionOf(browser.cookie)).status).toBe(200);
      sits(email);
      await link(id);
      expect((await sessionOf(browser.cookie)).status).toBe(401);
      const refused = await server.call('POST', '/v1/console/login', { body: { email, password } });
      expect(refused.status).toBe(401);
      await link(org.owner.id);
      expect((await sessionOf((await server.logIn(org.owner.email)).cookie)).status).toBe(200);
    },
  );

  it('ends with the membership and with the provider [MBR-415]', async () => {
    const org = await newOrg();
    const email = newEmail();
    sits(email);
    const { cookie } = await signIn(org.id);
    const [member] = await membersOf(org.id, email);
    await server.call('DELETE', `/v1/members/${member?.id}`, { key: org.key });
    expect((await sessionOf(cookie)).status).toBe(401);
    expect(await rowsWhere(server.db, memberIdentities, sql`org_id = ${org.id}`)).toEqual([]);

    const again = await signIn(org.id);
    expect((await sessionOf(again.cookie)).status).toBe(200);
    expect((await server.call('DELETE', '/v1/identity-provider', { key: org.key })).status).toBe(200);
    expect((await sessionOf(again.cookie)).status).toBe(401);
    expect((await begin(org.id)).url).toContain('sign_in_error=not_offered');
    // After the provider is set again, the person is linked by email.
    await org.set({});
    expect((await signIn(org.id)).error).toBeNull();
    expect(await rowsWhere(server.db, consoleSessions, sql`member_id IS NOT NULL AND email IS NOT NULL`)).toEqual([]);
  });
});

describe('a sign-in that was tampered with [MBR-416]', () => {
  it('works once, in the browser that began it, for ten minutes', async () => {
    const org = await newOrg();
    sits(newEmail());
    const { url, attempt } = await begin(org.id);
    const asked = new URL(url).searchParams;
    expect(asked.get('code_challenge_method')).toBe('S256');
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)).not.toContain(attempt);
    const back = await company.signIn(url);
    const elsewhere = await begin(org.id);
    expect((await comeBack(back, elsewhere.attempt)).error).toBe('expired');
    expect((await comeBack(back, attempt)).error).toBeNull();
    expect((await comeBack(back, attempt)).error).toBe('expired');

    const late = await begin(org.id);
    const lateBack = await company.signIn(late.url);
    await run(server.db, sql`UPDATE ${signInAttempts} SET expires_at = now() - interval '1 minute'`);
    expect((await comeBack(lateBack, late.attempt)).error).toBe('expired');
  });

  it('redirects only to pages of the console', async () => {
    const org = await newOrg();
    for (const address of [
      ...['https://evil.example', '//evil.example', '/consoles', '/v1/keys'],
      ...['/console/../v1/keys', '/console/%2e%2e/v1/keys', '/console/..\\v1/keys', '/console/\\..\\..//evil.example'],
    ]) {
      const refused = await server.open(`/v1/console/sign-in/${org.id}?return_to=${encodeURIComponent(address)}`);
      expect([address, refused.status]).toEqual([address, 400]);
    }
  });

  const inAMinute = (minutes: number) => Math.floor(Date.now() / 1000) + minutes * 60;
  type Lie = NonNullable<Company['lies']>;
  const claiming =
    (claims: Settings): Lie =>
    (token) => ({ ...token, claims: { ...token.claims, ...claims } });
  let foreign: KeyObject;
  let org: Awaited<ReturnType<typeof newOrg>>;
  beforeAll(async () => {
    foreign = newKey();
    org = await newOrg();
  });

  it.each<[string, Lie]>([
    ['is signed with another key', (token) => ({ ...token, key: foreign })],
    ['is not signed', ({ header, claims }) => ({ header: { ...header, alg: 'none' }, claims, key: null })],
    ['lost its signature', (token) => ({ ...token, key: null })],
    ['is for another client', claiming({ aud: 'somebody-else' })],
    ['is of another issuer', claiming({ iss: 'https://accounts.google.com' })],
    ['has run out', claiming({ exp: inAMinute(-10) })],
    ['answers another sign-in', claiming({ nonce: 'of another' })],
    ['is from the far future', claiming({ iat: inAMinute(60 * 24 * 365) })],
    // Complete, so that the provider is not asked for more and cannot show that it means somebody else.
    [
      'names nobody',
      (token) => ({ ...token, claims: { ...token.claims, ...company.person.claims, name: 'Nobody', sub: '' } }),
    ],
    ['is of another person than the endpoint knows', claiming({ sub: 'the boss' })],
  ])('signs no one in with a token that %s [HRD-707]', async (_, lie) => {
    sits(newEmail());
    company.lies = lie;
    expect(await signIn(org.id)).toMatchObject({ error: 'refused', cookie: '' });
    expect(await membersOf(org.id, company.person.claims.email as string)).toEqual([]);
    company.lies = (token) => token;
    expect((await signIn(org.id)).error).toBeNull();
  });
});
