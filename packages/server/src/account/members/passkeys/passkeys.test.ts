import { passkeys as contract } from '@vestra/contract/passkeys';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../../tests/support/rows.ts';
import { run } from '../../../platform/db/query.ts';
import { sql } from '../../../platform/db/sql.ts';
import { auditEntries, passkeys } from '../../tables.ts';
import { password, publicUrl, startConsole } from '../members.fixture.ts';
import { partyOf } from './passkeys.ts';

let server: Awaited<ReturnType<typeof startConsole>>;
let chrome: Browser;
let page: Page;
/** Removes all passkeys from the device. */
let emptyDevice: () => Promise<unknown>;

/** A real browser with a virtual device, at the origin of the console. */
beforeAll(async () => {
  [server, chrome] = await Promise.all([
    startConsole(),
    chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] }),
  ]);
  page = await chrome.newPage();
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Console</title>' }));
  await page.goto(`${publicUrl}/console`);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  emptyDevice = () => devtools.send('WebAuthn.clearCredentials', { authenticatorId });
});
afterAll(() => Promise.all([chrome.close(), server.stop()]));

type Member = Awaited<ReturnType<typeof server.logIn>>;
type Credential = { id: string; response: Record<string, string> };

const attemptOf = (headers: Headers) => /vestra_sign_in=([^;]+)/.exec(headers.getSetCookie().join())?.[1] ?? '';
const cookies = (attempt: string, member?: Member) => ({
  cookie: `${member ? `vestra_console=${member.cookie}; ` : ''}vestra_sign_in=${attempt}`,
  ...(member && { 'x-csrf-token': member.csrf }),
});

async function make(member: Member): Promise<{ attempt: string; credential: Credential }> {
  const begun = await server.call('POST', '/v1/console/passkeys/registration', { browser: member, body: { password } });
  if (begun.status !== 200) throw new Error(JSON.stringify(begun.body));
  const credential = await page.evaluate(async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
    const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
    return made.toJSON() as unknown;
  }, begun.body.options);
  return { attempt: attemptOf(begun.headers), credential: credential as Credential };
}

const register = (member: Member, { attempt, credential }: { attempt: string; credential: Credential }) =>
  server.call('POST', '/v1/console/passkeys', {
    headers: cookies(attempt, member),
    body: { name: 'Laptop', credential },
  });

async function use(): Promise<{ attempt: string; credential: Credential }> {
  const begun = await server.call('POST', '/v1/console/passkeys/sign-in-options');
  const credential = await page.evaluate(async (options) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
    const used = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
    return used.toJSON() as unknown;
  }, begun.body.options);
  return { attempt: attemptOf(begun.headers), credential: credential as Credential };
}

const signIn = ({ attempt, credential }: { attempt: string; credential: unknown }) =>
  server.call('POST', '/v1/console/passkeys/sign-in', { headers: cookies(attempt), body: { credential } });

const altered = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;

describe('a passkey', () => {
  it('needs the password to register, signs in its owner, and belongs to them alone [MBR-420, MBR-421, MBR-422]', async () => {
    const [org, other] = [await server.newOrg(), await server.newOrg()];
    const member = await server.logIn(org.owner.email);
    const stranger = await server.logIn(other.owner.email);
    const wrong = await server.call('POST', '/v1/console/passkeys/registration', {
      browser: member,
      body: { password: 'not the password' },
    });
    expect(wrong).toMatchObject({ status: 403, body: { error: { code: 'password_wrong' } } });

    const made = await make(member);
    // One person begins and another finishes, also in another browser.
    expect(await register(stranger, made)).toMatchObject({ body: { error: { code: 'passkey_refused' } } });
    expect(await register(member, made)).toMatchObject({ body: { error: { code: 'passkey_refused' } } });
    await emptyDevice();
    const again = await make(member);
    const registered = await register(member, again);
    expect(registered.status).toBe(201);
    const passkey = contract.register.response.parse(registered.body);
    expect(await register(member, again)).toMatchObject({ body: { error: { code: 'passkey_refused' } } });

    const used = await use();
    const elsewhere = await server.call('POST', '/v1/console/passkeys/sign-in-options');
    expect((await signIn({ ...used, attempt: attemptOf(elsewhere.headers) })).status).toBe(401);
    const opened = await signIn(used);
    expect(opened).toMatchObject({ status: 200, body: { org: { id: org.id }, member: { id: org.owner.id } } });
    expect(opened.headers.getSetCookie().join()).toMatch(/vestra_console=[A-Za-z0-9_-]{43}/);
    expect(await signIn(used)).toMatchObject({ status: 401, body: { error: { code: 'login_failed' } } });

    const tampered = async (change: (response: Credential['response']) => object) => {
      const { attempt, credential } = await use();
      const response = { ...credential.response, ...change(credential.response) };
      return (await signIn({ attempt, credential: { ...credential, response } })).status;
    };
    const clientData = (change: object) => (response: Credential['response']) => {
      const said = JSON.parse(Buffer.from(response.clientDataJSON as string, 'base64url').toString());
      return { clientDataJSON: Buffer.from(JSON.stringify({ ...said, ...change })).toString('base64url') };
    };
    expect(await tampered(clientData({ origin: 'https://evil.example' }))).toBe(401);
    expect(await tampered(clientData({ crossOrigin: true }))).toBe(401);
    expect(
      await tampered(({ authenticatorData }) => ({ authenticatorData: altered(authenticatorData as string) })),
    ).toBe(401);
    expect(await tampered(() => ({ signature: 'AAAA' }))).toBe(401);
    await run(server.db, sql`UPDATE ${passkeys} SET counter = 1000000 WHERE id = ${passkey.id}`);
    expect(await tampered(() => ({}))).toBe(401);
    await run(server.db, sql`UPDATE ${passkeys} SET counter = 0 WHERE id = ${passkey.id}`);
    expect(await tampered(() => ({}))).toBe(200);

    const path = `/v1/console/passkeys/${passkey.id}`;
    const rename = (browser: Member) => server.call('PATCH', path, { browser, body: { name: 'Old laptop' } });
    expect(await rename(stranger)).toMatchObject({ status: 404, body: { error: { code: 'passkey_not_found' } } });
    expect((await server.call('DELETE', path, { browser: stranger })).status).toBe(404);
    expect((await rename(member)).body).toMatchObject({ name: 'Old laptop' });
    const listed = await server.call('GET', '/v1/console/passkeys', { browser: member });
    expect(listed.body.data).toMatchObject([{ id: passkey.id, name: 'Old laptop', last_used_at: expect.any(String) }]);
    expect((await server.call('GET', '/v1/console/passkeys', { browser: stranger })).body.data).toEqual([]);

    const key = await server.newKey(org.id, 'live', ['all']);
    const link = await server.call('POST', `/v1/members/${org.owner.id}/password-reset`, { key });
    const token = String(link.body.reset_url).split('#token=')[1];
    await server.call('POST', '/v1/console/password-reset', { body: { token, password: 'a horse that is new' } });
    expect((await signIn(await use())).status).toBe(401);
    const actions = await rowsWhere(
      server.db,
      auditEntries,
      sql`org_id = ${org.id} AND action = 'member.passkey_added'`,
    );
    expect(actions).toHaveLength(1);
  });

  it.each([
    ['https://agents.example.com:8443/x', { rpID: 'agents.example.com', origin: 'https://agents.example.com:8443' }],
    ['http://localhost:4600', { rpID: 'localhost', origin: 'http://localhost:4600' }],
    ['http://agents.example.com', null],
    ['https://192.0.2.1', null],
    ['http://[::1]:4600', null],
  ])('is available for %s as %j', (address, expected) => {
    if (expected) expect(partyOf(address)).toEqual(expected);
    else expect(() => partyOf(address)).toThrow(/VESTRA_PUBLIC_URL/);
  });
});
