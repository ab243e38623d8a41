import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

type Claims = Record<string, unknown>;

/** The context in which the provider looks up a grant. */
type Context = {
  oidc: { client: { clientId: string }; session: { accountId: string }; provider: Pick<Provider, 'Grant'> };
};

/** A company with a real OpenID Connect provider that can send false responses. */
export type Company = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The person at the browser, with their claims besides `sub`. */
  person: { sub: string; claims: Claims };
  /** Changes the ID token before it is sent. */
  lies:
    | ((token: { header: Claims; claims: Claims }) => { header: Claims; claims: Claims; key?: KeyObject | null })
    | null;
  /** Signs in at this page like a person, and returns the address that the browser is sent back to. */
  signIn: (address: string) => Promise<URL>;
  stop: () => Promise<void>;
};

export const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

export async function startCompany(redirectUri: string): Promise<Company> {
  const key = newKey();
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const http = createServer((request, response) => answer(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const company: Company = {
    issuer,
    clientId: 'vestra',
    clientSecret: 'the-secret-of-vestra',
    person: { sub: 'ada', claims: {} },
    lies: null,
    signIn: (address) => goThrough(address, issuer),
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };

  const provider = new Provider(issuer, {
    clients: [{ client_id: company.clientId, client_secret: company.clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }] },
    cookies: { keys: ['cookies of the company'] },
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: () => '/interaction' },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ ...company.person.claims, sub: accountId }),
    }),
    // Consent is given for everyone.
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const serve = provider.callback();
  answer = (request, response) => {
    if (request.url === '/interaction') {
      void provider.interactionFinished(
        request,
        response,
        { login: { accountId: company.person.sub } },
        { mergeWithLastSubmission: false },
      );
      return;
    }
    if (request.url === '/token' && company.lies) rewriteToken(response, company.lies, key);
    serve(request, response);
  };
  return company;
}

/** The provider sends its response in one piece. */
function rewriteToken(response: ServerResponse, lies: NonNullable<Company['lies']>, ownKey: KeyObject): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  response.end = ((body: string | Buffer) => {
    const answer = JSON.parse(String(body));
    const [header, claims] = (answer.id_token as string).split('.', 2).map((part) => read(part)) as [Claims, Claims];
    const told = lies({ header, claims });
    const signed = `${write(told.header)}.${write(told.claims)}`;
    const key = told.key === undefined ? ownKey : told.key;
    answer.id_token = `${signed}.${key ? sign('sha256', Buffer.from(signed), key).toString('base64url') : ''}`;
    const text = JSON.stringify(answer);
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as ServerResponse['end'];
}

const read = (part: string | undefined): Claims => JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
const write = (part: Claims): string => Buffer.from(JSON.stringify(part)).toString('base64url');

async function goThrough(address: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  for (let steps = 0; url.origin === issuer; steps++) {
    if (steps > 10) throw new Error(`The sign-in goes in circles at ${url}.`);
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] as string).split(/=(.*)/s);
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (!location) throw new Error(`The company answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
  }
  return url;
}
