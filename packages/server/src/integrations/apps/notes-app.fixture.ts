import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type CallToolResult, createMcpHandler, Server } from '@modelcontextprotocol/server';

type Code = { client: string; redirectUri: string; challenge: string; resource: string; person: string };
type Grant = { person: string; access: string; refresh: string | null; isOver: boolean };

/** An app with users, notes and a sign-in: an MCP server with its OAuth 2.1 server. */
export type NotesApp = {
  url: string;
  /** The user at the browser, and their answer to the consent page. */
  person: string;
  consent: 'given' | 'denied';
  /** Lifetime of a token in seconds; null if the app does not announce it. */
  lasts: number | null;
  givesRefreshTokens: boolean;
  /** Replaces the response of the app if it returns one. */
  instead: (path: string, request: Request) => Response | undefined | Promise<Response | undefined>;
  metadata: Record<string, unknown>;
  /** All requests, such as `POST /token refresh_token`. */
  had: string[];
  registered: Record<string, unknown>[];
  /** All tool calls, with the signed-in user. */
  called: { name: string; person: string; args: Record<string, unknown> }[];
  grants: Grant[];
  /** All secrets that it issued. */
  secrets: () => string[];
  stop: () => Promise<void>;
};

export async function startNotesApp(): Promise<NotesApp> {
  const clients = new Map<string, { secret: string; redirectUris: string[] }>();
  const codes = new Map<string, Code>();
  const given: string[] = [];
  const secret = (kind: string) => {
    const made = `${kind}-${randomUUID()}`;
    given.push(made);
    return made;
  };

  const http = createServer(getRequestListener((request) => answer(request)));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

  const app: NotesApp = {
    url: `${url}/mcp`,
    person: 'ada',
    consent: 'given',
    lasts: 3600,
    givesRefreshTokens: true,
    instead: () => undefined,
    metadata: {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      revocation_endpoint: `${url}/revoke`,
      userinfo_endpoint: `${url}/userinfo`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    },
    had: [],
    registered: [],
    called: [],
    grants: [],
    secrets: () => given,
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const copy = request.clone();
    const form = pathname === '/token' || pathname === '/revoke' ? new URLSearchParams(await request.text()) : null;
    app.had.push(`${request.method} ${pathname} ${form?.get('grant_type') ?? ''}`.trim());
    const other = await app.instead(pathname, copy);
    if (other) return other;
    switch (pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return Response.json({ resource: app.url, authorization_servers: [url], scopes_supported: ['notes'] });
      case '/.well-known/oauth-authorization-server':
        return Response.json(app.metadata);
      case '/register':
        return register((await request.json()) as Record<string, unknown>);
      case '/authorize':
        return authorize(searchParams);
      case '/token':
        return token(form as URLSearchParams);
      case '/revoke':
        return revoke(form as URLSearchParams);
      case '/userinfo':
        return Response.json({ email: `${grantOf(request)?.person}@notes.example` });
      case '/mcp':
        return mcp(request);
      default:
        return new Response(null, { status: 404 });
    }
  }

  function register(about: Record<string, unknown>): Response {
    const clientId = randomUUID();
    const clientSecret = secret('client');
    clients.set(clientId, { secret: clientSecret, redirectUris: about.redirect_uris as string[] });
    app.registered.push(about);
    return Response.json({ ...about, client_id: clientId, client_secret: clientSecret }, { status: 201 });
  }

  function authorize(asked: URLSearchParams): Response {
    const client = clients.get(asked.get('client_id') ?? '');
    const redirectUri = asked.get('redirect_uri') ?? '';
    const isGood =
      client?.redirectUris.includes(redirectUri) &&
      asked.get('response_type') === 'code' &&
      asked.get('code_challenge_method') === 'S256' &&
      asked.get('scope') === 'notes' &&
      asked.get('resource') === app.url;
    if (!isGood) return new Response('bad request', { status: 400 });
    const back = new URL(redirectUri);
    back.searchParams.set('state', asked.get('state') ?? '');
    back.searchParams.set('iss', url);
    back.searchParams.set('session_state', 'of no interest');
    if (app.consent === 'denied') {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The person said no.');
    } else {
      const code = secret('code');
      const challenge = asked.get('code_challenge') ?? '';
      codes.set(code, {
        client: asked.get('client_id') ?? '',
        redirectUri,
        challenge,
        resource: app.url,
        person: app.person,
      });
      back.searchParams.set('code', code);
    }
    return Response.redirect(back.href, 302);
  }

  function token(form: URLSearchParams): Response {
    const client = clients.get(form.get('client_id') ?? '');
    if (!client || client.secret !== form.get('client_secret')) return refusal('invalid_client', 401);
    return form.get('grant_type') === 'refresh_token' ? refreshed(form) : exchanged(form);
  }

  function exchanged(form: URLSearchParams): Response {
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verifier = form.get('code_verifier') ?? '';
    const isGood =
      code?.client === form.get('client_id') &&
      code?.redirectUri === form.get('redirect_uri') &&
      code?.challenge === createHash('sha256').update(verifier).digest('base64url') &&
      code?.resource === form.get('resource');
    if (!code || !isGood) return refusal('invalid_grant');
    const grant: Grant = { person: code.person, access: '', refresh: null, isOver: false };
    app.grants.push(grant);
    return tokensOf(grant);
  }

  /** Accepts each refresh token once, and revokes the grant if one is used twice. */
  function refreshed(form: URLSearchParams): Response {
    const shown = form.get('refresh_token') ?? '';
    const grant = app.grants.find(({ refresh, isOver }) => refresh === shown && !isOver);
    if (grant) return tokensOf(grant);
    if (given.includes(shown)) for (const each of app.grants) each.isOver = true;
    return refusal('invalid_grant');
  }

  function tokensOf(grant: Grant): Response {
    grant.access = secret('access');
    grant.refresh = app.givesRefreshTokens ? secret('refresh') : null;
    return Response.json({
      access_token: grant.access,
      token_type: 'Bearer',
      ...(app.lasts !== null && { expires_in: app.lasts }),
      ...(grant.refresh !== null && { refresh_token: grant.refresh }),
    });
  }

  function revoke(form: URLSearchParams): Response {
    for (const grant of app.grants) {
      if ([grant.access, grant.refresh].includes(form.get('token'))) grant.isOver = true;
    }
    return new Response(null, { status: 200 });
  }

  const grantOf = (request: Request) => {
    const shown = request.headers.get('authorization')?.replace('Bearer ', '');
    return app.grants.find(({ access, isOver }) => access === shown && !isOver);
  };

  async function mcp(request: Request): Promise<Response> {
    const grant = grantOf(request);
    if (grant) return createMcpHandler(() => notesServer(app, grant.person)).fetch(request);
    const where = `${url}/.well-known/oauth-protected-resource/mcp`;
    return new Response('{"error":"invalid_token"}', {
      status: 401,
      headers: { 'www-authenticate': `Bearer resource_metadata="${where}", scope="notes"` },
    });
  }

  return app;
}

const refusal = (error: string, status = 400) => Response.json({ error }, { status });

function notesServer(app: NotesApp, person: string): Server {
  const server = new Server({ name: 'notes', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = { type: 'object' as const };
  server.setRequestHandler('tools/list', () => ({
    tools: [
      {
        name: 'read_notes',
        description: 'Reads the notes.',
        inputSchema,
        annotations: { readOnlyHint: true },
        _meta: { 'vestra/price_usd': 5 },
      },
      { name: 'write_note', description: 'Writes a note.', inputSchema },
    ],
  }));
  server.setRequestHandler('tools/call', ({ params }): CallToolResult => {
    app.called.push({ name: params.name, person, args: params.arguments ?? {} });
    return { content: [{ type: 'text', text: `${params.name} for ${person}` }] };
  });
  return server;
}

/** Follows redirects like a browser until a page or a foreign address. */
export async function visit(
  address: string,
  { app, open }: { app: NotesApp; open: (url: URL) => Promise<{ status: number; headers: Headers; text: string }> },
): Promise<{ url: string; status: number; text: string }> {
  let url = address;
  for (let hop = 0; hop < 5; hop++) {
    const here = new URL(url);
    const isApp = here.origin === new URL(app.url).origin;
    const page = isApp ? await opened(url) : here.pathname === '/v1/connections/callback' ? await open(here) : null;
    if (!page) return { url, status: 0, text: '' };
    const location = page.headers.get('location');
    if (location === null) return { url, status: page.status, text: page.text };
    url = new URL(location, url).href;
  }
  throw new Error('The browser was sent in a circle.');
}

async function opened(url: string) {
  const response = await fetch(url, { redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
