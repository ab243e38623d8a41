import type { Engine } from '../../engine/index.ts';
import { resolveConnects } from '../../engine/interactions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { userOf } from './connection.ts';
import { findConnection } from './store.ts';

/** The job: whatever waits for the app that was connected goes on. */
export async function resumeAfterConnecting(
  engine: Engine,
  { orgId, mode, connectionId }: Tenant & { connectionId: string },
): Promise<void> {
  const row = await findConnection(engine.db, { orgId, mode }, connectionId);
  if (row?.status !== 'connected') return;
  const name = engine.apps.find(row.app)?.name ?? row.app;
  await resolveConnects(engine, { orgId, mode }, { userId: userOf(row), app: row.app, name });
}
