import { execFileSync } from 'node:child_process';
import { chownSync, globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { newId } from '@vestra/contract/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { insertOrg } from '../../account/orgs/store.ts';
import { createLog } from '../../main/log.ts';
import { migrate } from '../../platform/db/migrate.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { one, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count } from '../../platform/db/table.ts';
import { indexDocument } from './document-index.ts';
import { encoderOf } from './encoder.fixture.ts';
import { newDocument, newNotebook } from './notebooks.fixture.ts';
import { createPassageMeaning } from './passage-meaning.ts';
import { fuseRanks, searchNotebooks } from './search.ts';
import { documents, documentVectors } from './tables.ts';
import { compareWith, productsByLoop } from './vector-comparison.ts';
import { packVectors, prepareVectorTable } from './vectors.ts';

const vector = fc
  .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 16, maxLength: 16 })
  .filter((values) => Math.hypot(...values) > 0.01)
  .map((values) => Float32Array.from(values));

const cosine = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, at) => sum + value * (b[at] as number), 0) / (Math.hypot(...a) * Math.hypot(...b));

describe('packed vectors', () => {
  it('keep their angles within a hundredth', () => {
    fc.assert(
      fc.property(vector, fc.array(vector, { minLength: 1, maxLength: 5 }), (query, vectors) => {
        const found = compareWith(query)(packVectors(vectors));
        expect(found).toHaveLength(vectors.length);
        vectors.forEach((each, at) => {
          expect(Math.abs((found[at] as number) - cosine(query, each))).toBeLessThan(0.02);
        });
      }),
    );
  });

  it('take one byte per number at any offset of a buffer', () => {
    const packed = packVectors([Float32Array.of(1, 0), Float32Array.of(0, -2), Float32Array.of(0, 0)]);
    expect(packed).toHaveLength(6);
    const inside = Buffer.concat([Buffer.from([7]), packed]).subarray(1);
    expect([...compareWith(Float32Array.of(0, 1))(inside)]).toEqual([0, -1, 0]);
    expect(packVectors([])).toHaveLength(0);
    expect([...compareWith(Float32Array.of(0, 1))(packVectors([]))]).toEqual([]);
  });
});

/** Numbers without a pattern that are the same in every run. */
function noise(length: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return (state >>> 8) / 2 ** 23 - 1;
  });
}

describe('compared vectors', () => {
  // 5,000 vectors need several rounds of the memory. 100 and 65 numbers are no multiple of what is read at once.
  it.each([
    [512, 5000],
    [4096, 70],
    [100, 300],
    [65, 3],
    [16, 20_000],
    [1, 4],
  ])('of %i numbers have the same products as a loop [SRCH-702]', (size, count) => {
    const query = noise(size, size);
    const packed = packVectors(Array.from({ length: count }, (_, at) => noise(size, at + 1)));
    const byLoop: number[] = [];
    const length = Math.hypot(...query);
    productsByLoop(query)(new Int8Array(packed.buffer, packed.byteOffset, packed.length), (_, product, square) =>
      byLoop.push(product / (Math.sqrt(square) * length)),
    );
    const found = compareWith(query)(packed);
    expect(found).toHaveLength(count);
    expect(found.findIndex((each, at) => !(Math.abs(each - (byLoop[at] as number)) < 0.0005))).toBe(-1);
  });

  it('do not mix if two queries take turns, and the largest numbers do not overflow [SRCH-702]', () => {
    const [ones, mixed] = [new Float32Array(4096).fill(1), noise(4096, 9)];
    const packed = packVectors([ones, ones.map((value) => -value), mixed]);
    const [first, second] = [compareWith(ones), compareWith(mixed)];
    const alone = [...first(packed)];
    expect(alone[0]).toBeCloseTo(1, 4);
    expect(alone[1]).toBeCloseTo(-1, 4);
    expect(second(packed)[2]).toBeCloseTo(1, 3);
    expect([...first(packed)]).toEqual(alone);
    expect([...compareWith(new Float32Array(4096))(packed)]).toEqual([0, 0, 0]);
  });
});

describe('fused ranks', () => {
  it('put keys of both rankings first', () => {
    expect(
      fuseRanks([
        ['a', 'b', 'c'],
        ['d', 'b'],
      ]),
    ).toEqual(['b', 'a', 'd', 'c']);
    expect(fuseRanks([['a', 'b'], []])).toEqual(['a', 'b']);
  });

  it('contain every key once, and never reverse an order that all rankings share', () => {
    const keys = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 });
    fc.assert(
      fc.property(keys, keys, (first, second) => {
        const fused = fuseRanks([first, second]);
        expect([...fused].sort()).toEqual([...new Set([...first, ...second])].sort());
        const both = fused.filter((key) => first.includes(key) && second.includes(key));
        for (const [at, key] of both.entries()) {
          for (const later of both.slice(at + 1)) {
            const isBehind = (list: string[]) => list.indexOf(key) > list.indexOf(later);
            expect(isBehind(first) && isBehind(second)).toBe(false);
          }
        }
      }),
    );
  });
});

/** The newest PostgreSQL of Debian with the extension. */
const version = globSync('/usr/share/postgresql/*/extension/vector.control')
  .map((path) => Number(path.split('/')[4]))
  .sort((a, b) => b - a)
  .find((each) => globSync(`/usr/lib/postgresql/${each}/bin/initdb`).length > 0);
const account = accountOf();
if (version === undefined || account === null) {
  process.stderr.write(
    'vector-table.test.ts is left out: no PostgreSQL of Debian with pgvector (postgresql-NN-pgvector) is here.\n',
  );
}

describe.skipIf(version === undefined || account === null)('a PostgreSQL with pgvector', () => {
  let folder: string;
  /** Runs a program of PostgreSQL as an allowed user. */
  let postgres: (program: string, ...args: string[]) => void;
  let db: Database;
  let orgId: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vestra-pgvector-'));
    const { uid, gid } = account as { uid: number; gid: number };
    chownSync(folder, uid, gid);
    postgres = (program, ...args) => {
      const path = `/usr/lib/postgresql/${version}/bin/${program}`;
      execFileSync(path, ['-D', join(folder, 'data'), ...args], { uid, gid, cwd: folder, stdio: 'ignore' });
    };
    postgres('initdb', '-U', 'vestra', '-A', 'trust', '-E', 'UTF8', '--no-sync');
    // Listens only on a socket in its folder.
    const settings = `-k ${folder} -c listen_addresses= -c fsync=off`;
    postgres('pg_ctl', 'start', '-w', '-l', join(folder, 'log'), '-o', settings);
    const connectionString = `postgresql://vestra@/postgres?host=${folder}`;
    db = await openDatabase({ connectionString });
    await migrate(db, join(import.meta.dirname, '../../platform/db/migrations'));
    orgId = newId('org');
    await insertOrg(db, { id: orgId, name: 'Org', wrapped_data_key: Buffer.from('x') });
  }, 60_000);
  afterAll(async () => {
    await closeDatabase(db);
    postgres('pg_ctl', 'stop', '-m', 'immediate');
    await rm(folder, { recursive: true });
  });

  const log = createLog('silent');
  const { embeddings, embedded } = encoderOf();
  const signal = new AbortController().signal;
  const shop = {
    lamp: 'Zzz zzz zzz zzz zzz zzz zzz.',
    sofa: 'Qqq qqq qqq qqq qqq qqq qqq.',
    desk: 'Zqz zqz zqz zqz zqz.',
  };

  it('compares vectors with the same results, also next to packed ones [NB-212]', async () => {
    const notebookId = await newNotebook(db, orgId, shop);
    const ids = (await rowsWhere(db, documents, sql`notebook_id = ${notebookId} ORDER BY id`)).map(({ id }) => id);
    const search = async (comparesVectors: boolean) => {
      const meaning = createPassageMeaning({ db, embeddings, comparesVectors, log });
      const reader = { orgId, notebookIds: [notebookId], revisions: null, userId: null };
      return (await searchNotebooks(db, { ...reader, query: 'zzzz', limit: 5 }, meaning)).hits.map(
        ({ title }) => title,
      );
    };
    const [before, ...later] = ids as [string, ...string[]];
    await indexDocument({ db, embeddings, comparesVectors: false }, before, signal);
    expect([await prepareVectorTable(db, log), await prepareVectorTable(db, log)]).toEqual([true, true]);
    for (const id of later) await indexDocument({ db, embeddings, comparesVectors: true }, id, signal);
    expect(await rowsWhere(db, documentVectors, sql`document_id = ANY(${later})`)).toEqual([]);
    expect(await search(true)).toEqual(['lamp', 'desk']);
    // Without the extension only the first is found.
    expect(await search(false)).toEqual(['lamp']);

    // The same text is copied, and a deleted document is gone.
    const beforeCopy = embedded.length;
    const copy = await newDocument(db, orgId, notebookId, { title: 'copy', text: shop.desk });
    await indexDocument({ db, embeddings, comparesVectors: true }, copy.id, signal);
    expect([embedded.length, await search(true)]).toEqual([beforeCopy, ['lamp', 'desk', 'copy']]);
    await run(db, sql`DELETE FROM ${documents} WHERE id = ANY(${ids})`);
    const { left } = await one(db, { left: count() }, sql`SELECT count(*) AS left FROM document_window_vectors`);
    expect([left, await search(true)]).toEqual([1, ['copy']]);
  });

  it('without permission for the server is used like one without pgvector [NB-212]', async () => {
    await run(db, sql`CREATE DATABASE plain`);
    await run(db, sql`CREATE ROLE guest LOGIN`);
    const guest = await openDatabase({ connectionString: `postgresql://guest@/plain?host=${folder}` });
    const owner = await openDatabase({ connectionString: `postgresql://vestra@/plain?host=${folder}` });
    try {
      await run(owner, sql`GRANT ALL ON SCHEMA public TO guest`);
      await migrate(guest, join(import.meta.dirname, '../../platform/db/migrations'));
      expect(await prepareVectorTable(guest, log)).toBe(false);
    } finally {
      await closeDatabase(guest);
      await closeDatabase(owner);
    }
  });
});

/** PostgreSQL does not run as root. */
function accountOf(): { uid: number; gid: number } | null {
  const { uid, gid } = userInfo();
  if (uid !== 0) return { uid, gid };
  try {
    const read = (which: string) => Number(execFileSync('id', [which, 'postgres'], { encoding: 'utf8' }));
    return { uid: read('-u'), gid: read('-g') };
  } catch {
    return null;
  }
}
