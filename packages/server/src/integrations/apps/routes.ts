import { fail } from '@vestra/contract/errors';
import { waitingToConnect } from '../../engine/interactions/index.ts';
import type { Caller } from '../../platform/caller.ts';
import { noticePage } from '../../platform/html/notice-page.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { openPending, presentApp, presentConnection, presentOwnClient, returnAddress } from './app.ts';
import { type ConnectDependencies, deleteOwnClientOf, showClient, storeOwnClient } from './clients.ts';
import { beginConnection, finishSignIn, removeConnection } from './connections.ts';
import { appsWithOwnClient, listConnections } from './store.ts';

export function appRoutes(deps: ConnectDependencies): Handlers<'apps'> {
  const { db, catalogue, redirectUri } = deps;
  return {
    list: async ({ caller, page }) => {
      const [last = ''] = page.after ?? [];
      const rows = catalogue.all.filter(({ id }) => id > last).slice(0, page.limit + 1);
      const withOwnClient = new Set(await appsWithOwnClient(db, caller));
      return page.of(
        rows,
        (app) => presentApp(app, { withOwnClient, redirectUri }),
        ({ id }) => [id],
      );
    },
    getClient: async ({ caller, params }) => presentOwnClient(await showClient(deps, caller, params.app), redirectUri),
    putClient: async ({ origin, params, body }) =>
      presentOwnClient(await storeOwnClient(deps, origin, params.app, body), redirectUri),
    deleteClient: async ({ origin, params }) => {
      await deleteOwnClientOf(deps, origin, params.app);
      return { object: 'app_client', app: params.app, deleted: true };
    },
  };
}

export function connectionRoutes(deps: ConnectDependencies): Handlers<'connections'> {
  const { db, vault, catalogue } = deps;
  return {
    list: async ({ caller, query, page }) => {
      const rows = await listConnections(db, caller, query, page);
      const addresses = new Map<string, string>();
      for (const row of rows.filter(({ status }) => status === 'pending')) {
        const secrets = await openPending(db, vault, row);
        if (secrets) addresses.set(row.id, secrets.connect_url);
      }
      return page.of(
        rows,
        (row) => presentConnection(row, addresses.get(row.id) ?? null),
        (row) => [row.id],
      );
    },
    create: async ({ caller, origin, body, commit }) => {
      await assertWaitedFor(deps, caller, body.app);
      return beginConnection(deps, { caller, origin, commit }, body);
    },
    delete: async ({ origin, params }) => {
      await removeConnection(deps, origin, params.connection_id);
      return { object: 'connection', id: params.connection_id, deleted: true };
    },
    callback: async ({ query, ip, requestId }) => {
      const finished = await finishSignIn(deps, query, { ip, requestId });
      if (!finished) {
        return noticePage({
          status: 400,
          title: 'This sign-in is not known',
          text: 'It was finished before, it has expired, or this address was not given out here. Go back and start again.',
        });
      }
      const { row, status, returnUrl } = finished;
      if (returnUrl !== null) {
        return new Response(null, {
          status: 302,
          headers: { location: returnAddress(returnUrl, { id: row.id, status }) },
        });
      }
      const name = catalogue.find(row.app)?.name ?? row.app;
      // For users who have no address to return to.
      return status === 'connected'
        ? noticePage({ status: 200, title: `${name} is connected`, text: 'You can close this page and continue.' })
        : noticePage({
            status: 400,
            title: `${name} is not connected`,
            text: 'The sign-in was declined, took too long or was refused. Go back and start again.',
          });
    },
  };
}

/** A session may connect only an app that its conversation waits for. */
async function assertWaitedFor({ db }: ConnectDependencies, caller: Caller, app: string): Promise<void> {
  const { session } = caller;
  if (!session) return;
  const waiting = await waitingToConnect(db, caller, { userId: session.userId, app });
  if (!waiting.some(({ conversation_id }) => conversation_id === session.conversationId)) {
    throw fail('session_scope', { param: 'app', message: 'This conversation waits for no such app.' });
  }
}
