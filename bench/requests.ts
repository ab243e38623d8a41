import { measureApply } from './configuration.ts';
import { load } from './load.ts';
import { fillLists } from './million-rows.ts';
import { duration, megabytes, type Row, rate, type Stage } from './report.ts';
import { memoryOf } from './server-process.ts';
import { withServer } from './with-server.ts';

export function measureRequests(stage: Stage): Promise<Row[]> {
  return withServer(stage, 'requests', async ({ call }) => {
    const idempotentCreate = () =>
      call(
        'POST',
        '/v1/keys',
        { name: 'bench', scopes: ['runtime'] },
        { headers: { 'idempotency-key': crypto.randomUUID() } },
      );
    const me = await load(16, stage.seconds, () => call('GET', '/v1/me'));
    const org = await load(16, stage.seconds, () => call('GET', '/v1/org'));
    const keys = await load(16, stage.seconds, idempotentCreate);
    return [
      { what: 'authenticated read (GET /v1/me), 16 at once', measured: rate(me), budget: '3,000/s' },
      { what: 'read of one row (GET /v1/org), 16 at once', measured: rate(org), budget: '3,000/s' },
      { what: 'idempotent create (POST /v1/keys), 16 at once', measured: rate(keys) },
    ];
  });
}

/** The first page of a list in an org with few rows and in one with a thousand times as many. */
export function measureLists(stage: Stage): Promise<Row[]> {
  return withServer(stage, 'lists', async ({ call, connectionString }) => {
    const few = await fillLists(connectionString, 1000);
    const many = await fillLists(connectionString, 1_000_000 * stage.share);
    const rows: Row[] = [];
    for (const [name, path] of [
      ['audit log', '/v1/audit-log?limit=20'],
      ['conversations', '/v1/conversations?limit=20'],
    ] as const) {
      const list = (key: string) => load(4, stage.seconds / 3, () => call('GET', path, undefined, { key }));
      const small: number[] = [];
      const large: number[] = [];
      // In turns, so that what else the machine does in a moment falls on both.
      for (let round = 0; round < 4; round++) {
        small.push((await list(few.key)).p50);
        large.push((await list(many.key)).p50);
      }
      const [least, most] = [Math.min(...small), Math.min(...large)];
      const sizes = `${few.count.toLocaleString('en')} and ${many.count.toLocaleString('en')}`;
      rows.push(
        { what: `list page of the ${name} at ${sizes} rows, p50`, measured: `${duration(least)}, ${duration(most)}` },
        {
          what: `list page of the ${name}, the one to the other`,
          measured: `${(most / least).toFixed(2)} ×`,
          budget: '1.3 ×',
        },
      );
    }
    return rows;
  });
}

export function measureConfiguration(stage: Stage): Promise<Row[]> {
  return withServer(stage, 'configuration', async ({ server, call }) => {
    const { unchanged, changed } = await measureApply(call);
    return [
      { what: 'apply an unchanged file, 50 tools and 50 notebooks, 4 at once', measured: rate(unchanged) },
      { what: 'apply a changed file, 50 tools and 50 notebooks, 4 at once', measured: rate(changed) },
      { what: 'memory after applying', measured: megabytes(memoryOf(server).server), budget: '300 MB' },
    ];
  });
}
