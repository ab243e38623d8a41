import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { clientOfSignIn } from './client-for.ts';
import { userOf } from './connection.ts';
import type { ConnectDependencies } from './dependencies.ts';
import { openTokens } from './secrets-of-connection.ts';
import { deleteConnection } from './store.ts';

/** Forgets the sign-in at once; the app is told where it can be, and nobody waits for its answer for long. */
export async function removeConnection(
  { db, vault, signIn, catalogue }: Pick<ConnectDependencies, 'db' | 'vault' | 'signIn' | 'catalogue'>,
  origin: Origin,
  connectionId: string,
): Promise<void> {
  const row = await transaction(db, async (tx) => {
    const removed = await deleteConnection(tx, origin, connectionId);
    if (!removed) throw fail('connection_not_found');
    await recordAudit(tx, origin, {
      action: 'connection.deleted',
      target: { type: 'connection', id: connectionId },
      details: { app: removed.app, user_id: userOf(removed) },
    });
    return removed;
  });
  const server = row.authorization_server;
  if (row.status !== 'connected' || !server) return;
  const secrets = await openTokens(db, vault, row);
  if (!secrets) return;
  const { client: kept, access_token, refresh_token } = secrets;
  const client = await clientOfSignIn({ db, vault }, origin, { app: catalogue.find(row.app), kept, server });
  if (client) await signIn.revoke(server, { client, tokens: { access_token, refresh_token, expires_at: null } });
}
