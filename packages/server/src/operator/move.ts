import type { Config } from '../platform/config/config.ts';
import { keepServersAway, withSession, withSnapshot } from '../platform/db/dump.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { assertKnown, fillDatabase } from './load.ts';
import type { Progress } from './progress.ts';
import { reachAlone, reachInUse } from './reach-database.ts';

export type MoveReport = { from: string; to: string; tables: number; rows: number; is_embedded: boolean };

/** Brings all rows into another, empty database while no server runs on either. The one they come from is only read. */
export async function move(
  { config, progress }: { config: Config; progress: Progress },
  to: string,
): Promise<MoveReport> {
  const isEmbedded = to === 'embedded';
  if (isEmbedded && config.databaseUrl === null) {
    throw new StartFailure(
      'DATABASE_URL is not set, so the embedded database is the one in use: set it to the one to move from.',
    );
  }
  const source = await reachInUse(config);
  try {
    const target = await reachAlone({ databaseUrl: isEmbedded ? null : to, dataDir: config.dataDir });
    try {
      return await withSession(source.connectionString, async (client) => {
        await keepServersAway(client, `the database ${source.name}`);
        return withSnapshot(client, source.name, async ({ migrations, sequences, tables, rowsOf }) => {
          await assertKnown(migrations, `The database ${source.name} was used by a newer Vestra`);
          let rows = 0;
          await fillDatabase(target, {
            migrations,
            sequences,
            fill: async (load) => {
              for (const table of tables) {
                progress.show(`Table ${table.name}`);
                rows += await load.fill(table, rowsOf(table));
              }
            },
          });
          return { from: source.name, to: target.name, tables: tables.length, rows, is_embedded: isEmbedded };
        });
      });
    } finally {
      await target.stop();
    }
  } finally {
    await source.stop();
  }
}
