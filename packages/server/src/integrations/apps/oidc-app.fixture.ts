import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type CallToolResult, createMcpHandler, Server } from '@modelcontextprotocol/server';
import Provider from 'oidc-provider';

/**
 * An app with a certified authorization server, `oidc-provider`. It knows two clients that were registered by hand,
 * clients with a metadata document, and clients that register themselves.
 */
export type OidcApp = {
  url: string;
  clients: Record<'basic' | 'post', { client_id: string; client_secret: string }>;
  /** The response at the address of a client metadata document. */
  documentAt: (address: string) => Promise<Response>;
  /** The clients of all sign-ins. */
  signedInWith: string[];
  stop: () => Promise<void>;
};

export async function startOidcApp({ redirectUri }: { redirectUri: string }): Promise<OidcApp> {
  const http = createServer((request, response) => void answer(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const app: OidcApp = {
    url: `${issuer}/mcp`,
    clients: {
      basic: { client_id: 'by-hand-basic', client_secret: 'secret-of-the-basic-client' },
      post: { client_id: 'by-hand-post', client_secret: 'secret-of-the-post-client' },
    },
    documentAt: async () => new Response(null, { status: 404 }),
    signedInWith: [],
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  const registered = (kind: 'basic' | 'post') => ({
    ...app.clients[kind],
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: `client_secret_${kind}`,
  });
  const provider = new Provider(issuer, {
    clients: [registered('basic'), registered('post')],
    cookies: { keys: ['a key of the tests'] },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: 'notes', audience: app.url, accessTokenFormat: 'opaque' }),
      },
    },
    scopes: ['openid', 'offline_access', 'notes'],
    issueRefreshToken: () => true,
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    fetch: (address: string | URL) => app.documentAt(String(address)),
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 600,
    },
  });
  const callback = provider.callback();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (pathname === '/.well-known/oauth-protected-resource/mcp') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ resource: app.url, authorization_servers: [issuer], scopes_supported: ['notes'] }));
    } else if (pathname === '/mcp') await mcp(request, response);
    else if (pathname.startsWith('/interaction/')) await agree(request, response);
    else await callback(request, response);
  }

  /** The user consents to everything, in the two steps of the server. */
  async function agree(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      const result = { login: { accountId: 'ada' } };
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: params.client_id ?? '' });
    grant.addOIDCScope('openid offline_access notes');
    grant.addResourceScope(app.url, 'notes');
    app.signedInWith.push(params.client_id ?? '');
    const result = { consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  }

  async function mcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const shown = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const token = shown && (await provider.AccessToken.find(shown));
    if (token)
      return getRequestListener((each) => createMcpHandler(() => greeter(token.accountId)).fetch(each))(
        request,
        response,
      );
    const where = `${issuer}/.well-known/oauth-protected-resource/mcp`;
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}", scope="notes"` }).end();
  }

  return app;
}

function greeter(person: string): Server {
  const server = new Server({ name: 'greeter', version: '1' }, { capabilities: { tools: {} } });
  const tool = { name: 'greet', description: 'Greets.', inputSchema: { type: 'object' as const } };
  server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
  server.setRequestHandler(
    'tools/call',
    (): CallToolResult => ({ content: [{ type: 'text', text: `Hello, ${person}` }] }),
  );
  return server;
}

/** A browser with cookies: follows redirects until a page or the given address. */
export async function browseUntil(address: string, leaving: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = address;
  for (let hop = 0; hop < 10; hop++) {
    if (url.startsWith(leaving)) return new URL(url);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`The page at ${url} answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url).href;
  }
  throw new Error('The browser was sent in a circle.');
}
