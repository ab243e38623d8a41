import { expect, it } from 'vitest';
import { createLog } from '../../main/log.ts';
import { openLine } from '../../platform/db/listen.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { useDeliveries } from './deliveries.fixture.ts';
import { startDelivering } from './dispatcher.ts';
import { until } from './receiver.fixture.ts';

const at = useDeliveries();

it('delivers what is committed because it is told, and not by looking for it', async () => {
  const org = await at.newOrg();
  const receiver = await at.receiver();
  const { id } = await at.endpoint(org, receiver.url, ['task.completed']);
  const { db, vault, outbound } = at.server;
  const connectionString = db.$client.options.connectionString as string;
  const log = createLog('silent');
  const line = await openLine({ connectionString, log });
  const delivering = await startDelivering({
    db,
    vault,
    outbound,
    log,
    line,
    lookEveryMs: 3_600_000,
  });
  try {
    await at.emit(org);
    await until(() => receiver.received.length === 1);
    await run(
      db,
      sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'vestra listener'`,
    );
    // Unheard, since nobody listens; found when the line stands again.
    await at.emit(org);
    await until(() => receiver.received.length === 2);
    await at.emit(org);
    await until(() => receiver.received.length === 3);
    expect((await at.deliveries(org, { id })).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  } finally {
    await delivering.stop();
    await line.close();
  }
});
