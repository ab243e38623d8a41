import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credit } from '@vestra/server/billing/charge';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { type NotesApp, startNotesApp, visit } from '../../packages/server/src/integrations/apps/notes-app.fixture.ts';
import type { ApiResponse } from '../support/server.ts';
import { type Desk, startDesk } from './interactions.fixture.ts';

/** A desk whose operator has two apps: `notes` and, with the same people, `diary`. */
export type AppDesk = Desk & {
  app: NotesApp;
  /** Begins a connection. */
  begin: (body?: Record<string, unknown>, key?: string) => Promise<ApiResponse>;
  /** The person at the browser follows the address to its end. */
  follow: (connectUrl: string) => Promise<{ url: string; status: number; text: string }>;
  /** Both, for a user of the app who is called as the org calls them. */
  connect: (userId: string, key?: string) => Promise<ApiResponse['body']>;
};

export async function startAppDesk(): Promise<AppDesk> {
  const app = await startNotesApp();
  const folder = await mkdtemp(join(tmpdir(), 'vestra-apps-'));
  const file = join(folder, 'apps.json');
  await writeFile(
    file,
    JSON.stringify([
      { id: 'notes', name: 'Notes', url: app.url },
      { id: 'diary', name: 'Diary', url: app.url },
    ]),
  );
  const desk = await startDesk({ VESTRA_APPS_FILE: file });
  await payLive(desk);
  const open = async (url: URL) => desk.call('GET', `${url.pathname}${url.search}`, { key: null });
  const begin: AppDesk['begin'] = (body = {}, key = desk.testKey) =>
    desk.call('POST', '/v1/connections', { key, body: { app: 'notes', ...body } });
  const follow: AppDesk['follow'] = (connectUrl) => visit(connectUrl, { app, open });
  return {
    ...desk,
    app,
    begin,
    follow,
    async connect(userId, key) {
      app.person = userId;
      const { body } = await begin({ user_id: userId }, key);
      const { status, text } = await follow(body.connect_url);
      if (status !== 200) throw new Error(text);
      return body;
    },
    async stop() {
      await desk.stop();
      await app.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function payLive({ connectionString, orgId }: Desk): Promise<void> {
  const db = await openDatabase({ connectionString });
  await transaction(db, (tx) => credit(tx, { orgId, mode: 'live' }, 100_000_000n));
  await closeDatabase(db);
}
