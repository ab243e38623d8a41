import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { createAppSignIn } from '../../adapters/app-sign-in/app-sign-in.ts';
import { refuseAddress } from '../../adapters/outbound/address.ts';
import { createOutbound } from '../../adapters/outbound/fetcher.ts';
import { update } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import { orgSettings } from '../orgs/api.ts';
import { readCatalogue } from './catalogue.ts';
import { type NotesApp, startNotesApp, visit } from './notes-app.fixture.ts';
import { appRoutes, connectionRoutes } from './routes.ts';

export const redirectUri = 'http://localhost:4600/v1/connections/callback';

/** The routes of apps and connections on a database of their own, and an app to connect. */
export async function startAppRoutes() {
  const app = await startNotesApp();
  const folder = await mkdtemp(join(tmpdir(), 'vestra-apps-'));
  const file = join(folder, 'apps.json');
  const list = [
    { id: 'notes', name: 'Notes', description: 'Notes of people.', url: app.url },
    { id: 'away', name: 'Away', url: 'http://127.0.0.1:1/mcp' },
    { id: 'closed', name: 'Closed', url: app.url, connectable: false },
  ];
  await writeFile(file, JSON.stringify(list));
  const refuse = (url: string) => refuseAddress(url, { allowPrivate: true });
  const outbound = createOutbound({ allowPrivate: true });
  const catalogue = readCatalogue({ file, refuseAddress: refuse });
  const signIn = createAppSignIn({ outbound, refuseAddress: refuse });
  const sent: unknown[] = [];
  const jobs: JobSender = {
    send: async (_executor, name, payload) => {
      sent.push([name, payload]);
      return '';
    },
    sendMany: async () => [],
  };
  const server = await startTestApp(({ db, vault }) => ({
    apps: appRoutes({ catalogue }),
    connections: connectionRoutes({ db, vault, catalogue, signIn, jobs, redirectUri }),
  }));

  const open = async (url: URL) => server.call('GET', `${url.pathname}${url.search}`, { key: 'none' });
  return {
    ...server,
    app,
    catalogue,
    signIn,
    /** The jobs that were sent. */
    sent,
    newOrg: () => server.newOrg(['runtime']),
    allowReturn: (orgId: string, urls: string[]) =>
      update(server.db, orgSettings, { allowed_return_urls: urls }, sql`org_id = ${orgId}`),
    create: (key: string, body: Record<string, unknown>) =>
      server.call('POST', '/v1/connections', { key, body: { app: 'notes', ...body } }),
    list: async (key: string, query = '') => (await server.call('GET', `/v1/connections${query}`, { key })).body.data,
    /** The person opens the address, says what the app is set to say, and ends somewhere. */
    visit: (address: string) => visit(address, { app, open }),
    open,
    async stop() {
      await server.stop();
      await outbound.close();
      await app.stop();
      await rm(folder, { recursive: true });
    },
  };
}

export type AppRoutes = Awaited<ReturnType<typeof startAppRoutes>>;

/** The app as it was when it started. */
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
