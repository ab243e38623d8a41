import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { createMcpClient } from '../../agents/mcp-client/mcp-client.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { refuseAddress } from '../../platform/outbound/address.ts';
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { createAppSignIn } from '../app-sign-in/app-sign-in.ts';
import { readCatalogue } from './catalogue.ts';
import { startKeyedApp } from './keyed-app.fixture.ts';
import { type NotesApp, startNotesApp, visit } from './notes-app.fixture.ts';
import { startOidcApp } from './oidc-app.fixture.ts';
import { appRoutes, connectionRoutes } from './routes.ts';

export const redirectUri = 'http://localhost:4600/v1/connections/callback';

/** The routes of apps and connections with a separate database, and an app to connect. */
export async function startAppRoutes() {
  const app = await startNotesApp();
  const oidc = await startOidcApp({ redirectUri });
  const keyed = await startKeyedApp();
  const folder = await mkdtemp(join(tmpdir(), 'vestra-apps-'));
  const file = join(folder, 'apps.json');
  const list = [
    { id: 'notes', name: 'Notes', description: 'Notes of people.', url: app.url },
    { id: 'away', name: 'Away', url: 'http://127.0.0.1:1/mcp' },
    { id: 'closed', name: 'Closed', url: app.url, connectable: false },
    { id: 'oidc', name: 'Oidc', url: oidc.url },
    {
      id: 'oidc-by-hand',
      name: 'Oidc by hand',
      url: oidc.url,
      sign_in: { needs_client: true, register_at: 'https://oidc.example/apps' },
    },
    {
      id: 'oidc-operator',
      name: 'Oidc of the operator',
      url: oidc.url,
      client_id: 'by-hand-post',
      client_secret_env: 'OIDC_SECRET',
      sign_in: { issuer: new URL(oidc.url).origin },
    },
    {
      id: 'quirky',
      name: 'Quirky',
      url: app.url,
      client_id: 'quirky-client',
      client_secret_env: 'QUIRKY_SECRET',
      sign_in: quirkyFacts(app),
    },
    {
      id: 'keyed',
      name: 'Keyed',
      url: keyed.url,
      sign_in: null,
      api_key: { header: 'X-Api-Key', note: 'Ask for one.' },
    },
    { id: 'keyed-query', name: 'Keyed by query', url: keyed.url, sign_in: null, api_key: { query: 'key' } },
  ];
  await writeFile(file, JSON.stringify(list));
  const refuse = (url: string) => refuseAddress(url, { allowPrivate: true });
  const outbound = createOutbound({ allowPrivate: true });
  const secret = oidc.clients.post.client_secret;
  const env = (name: string) => ({ OIDC_SECRET: secret, QUIRKY_SECRET: 'secret-of-the-quirky-client' })[name];
  const catalogue = readCatalogue({ file, refuseAddress: refuse, env });
  const signIn = createAppSignIn({ outbound, refuseAddress: refuse });
  const sent: unknown[] = [];
  const jobs: JobSender = {
    send: async (_executor, name, payload) => {
      sent.push([name, payload]);
      return '';
    },
    sendMany: async () => [],
  };
  const mcpClient = createMcpClient({ fetch: outbound.webFetch, version: '1' });
  const own = { clientDocument: 'https://vestra.example/oauth/client.json' as string | null };
  const server = await startTestApp(({ db, vault }) => {
    const deps = Object.assign(own, { db, vault, catalogue, signIn, jobs, mcpClient, redirectUri });
    return { apps: appRoutes(deps), connections: connectionRoutes(deps) };
  });

  const open = async (url: URL) => server.call('GET', `${url.pathname}${url.search}`, { key: 'none' });
  return {
    ...server,
    app,
    oidc,
    keyed,
    /** The dependencies of the routes. A test may change the client of this server. */
    own,
    mcpClient,
    catalogue,
    signIn,
    sent,
    newOrg: () => server.newOrg(['runtime', 'admin']),
    allowReturn: (orgId: string, urls: string[]) =>
      run(server.db, sql`UPDATE org_settings SET allowed_return_urls = ${urls} WHERE org_id = ${orgId}`),
    create: (key: string, body: Record<string, unknown>) =>
      server.call('POST', '/v1/connections', { key, body: { app: 'notes', ...body } }),
    list: async (key: string, query = '') => (await server.call('GET', `/v1/connections${query}`, { key })).body.data,
    /** The user opens the address and answers as the app is set to. */
    visit: (address: string) => visit(address, { app, open }),
    open,
    async stop() {
      await server.stop();
      await outbound.close();
      await Promise.all([app.stop(), oidc.stop(), keyed.stop()]);
      await rm(folder, { recursive: true });
    },
  };
}

/** An app without metadata and with non-standard responses. */
const quirkyFacts = (app: NotesApp) => ({
  endpoints: {
    issuer: 'https://quirky.example',
    authorization_endpoint: `${app.metadata.issuer}/quirky/authorize`,
    token_endpoint: `${app.metadata.issuer}/quirky/token`,
    userinfo_endpoint: `${app.metadata.issuer}/quirky/me`,
  },
  scope: 'read write',
  scope_parameter: 'user_scope',
  authorize_with: { access_type: 'offline' },
  no_resource: true,
  auth_method: 'client_secret_basic',
  tokens_in: 'authed_user',
  any_token_type: true,
});

export type AppRoutes = Awaited<ReturnType<typeof startAppRoutes>>;

/** Resets the app to its initial state. */
export function reset(app: NotesApp): void {
  app.person = 'ada';
  app.consent = 'given';
  app.lasts = 3600;
  app.givesRefreshTokens = true;
  app.instead = () => undefined;
  app.had.length = 0;
  app.registered.length = 0;
  app.called.length = 0;
}
