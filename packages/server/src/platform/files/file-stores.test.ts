import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '@vestra/contract/errors';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../metrics/metrics.ts';
import { createDiskStore, type FileStore, measuredStore } from './file-store.ts';
import { createS3Store } from './s3.ts';
import { type S3Fixture, startS3 } from './s3-server.fixture.ts';

const megabyte = 1024 * 1024;
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const orgA = 'org_a';
const orgB = 'org_b';

let s3: S3Fixture;
let folder: string;
const warnings: string[] = [];
const log = { warn: (details: object, message: string) => void warnings.push(JSON.stringify({ ...details, message })) };
const stores: Record<'disk' | 's3', FileStore & { close?: () => Promise<void> }> = {} as never;

beforeAll(async () => {
  s3 = await startS3();
  folder = await mkdtemp(join(tmpdir(), 'vestra-files-'));
  stores.disk = createDiskStore(folder);
  stores.s3 = createS3Store(s3.place, log, { pauseMs: 1 });
});
afterEach(() => s3.trouble(() => null));
afterAll(async () => {
  await stores.s3.close?.();
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

async function* chunksOf(bytes: Uint8Array, size: number, fails?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  if (fails) throw fails;
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function listed(store: FileStore): Promise<string[]> {
  const names: string[] = [];
  for await (const { orgId, name, bytes } of store.list()) names.push(`${orgId} ${name} ${bytes}`);
  return names.sort();
}

describe.each(['disk', 's3'] as const)('a file store on %s', (kind) => {
  it('returns stored content as a whole and by ranges, lists and removes it [STORE-001]', async () => {
    const store = stores[kind];
    const small = Buffer.from('hello');
    const large = randomBytes(9 * megabyte + 17);
    await store.put(orgA, hashOf(small), small);
    await store.put(orgA, hashOf(large), chunksOf(large, 700_001));
    expect(await store.put(orgB, 'ab12.home', chunksOf(Buffer.from(''), 1))).toEqual({
      sha256: hashOf(new Uint8Array()),
      bytes: 0,
    });
    expect(await store.read(orgA, hashOf(small))).toEqual(small);
    const opened = await store.open(orgA, hashOf(large));
    expect(opened?.bytes).toBe(large.length);
    expect((await whole(opened?.chunks ?? chunksOf(small, 1))).equals(large)).toBe(true);
    const part = await store.open(orgA, hashOf(large), { first: 8 * megabyte - 9, last: 8 * megabyte + 90 });
    expect(part?.bytes).toBe(large.length);
    expect(await whole(part?.chunks ?? chunksOf(small, 1))).toEqual(
      large.subarray(8 * megabyte - 9, 8 * megabyte + 91),
    );
    expect(await listed(store)).toEqual(
      [`${orgA} ${hashOf(small)} 5`, `${orgA} ${hashOf(large)} ${large.length}`, `${orgB} ab12.home 0`].sort(),
    );
    for (const name of [hashOf(small), hashOf(large)]) await store.remove(orgA, name);
    await store.remove(orgA, hashOf(small));
    await store.remove(orgB, 'ab12.home');
    expect(await store.has(orgA, hashOf(small))).toBe(false);
    expect(await store.read(orgA, hashOf(small))).toBeNull();
    expect(await listed(store)).toEqual([]);
  });

  it('separates orgs, and refuses names that lead elsewhere [STORE-002]', async () => {
    const store = stores[kind];
    const bytes = Buffer.from(`secret of ${kind}`);
    await store.put(orgA, hashOf(bytes), bytes);
    expect(await store.has(orgB, hashOf(bytes))).toBe(false);
    expect(await store.read(orgB, hashOf(bytes))).toBeNull();
    for (const [org, name] of [
      [orgB, `../../${orgA}/${hashOf(bytes).slice(0, 2)}/${hashOf(bytes)}`],
      [`../${orgA}`, hashOf(bytes)],
      [orgB, '..'],
      ['', hashOf(bytes)],
      [`${orgA}/x`, hashOf(bytes)],
    ] as const) {
      await expect(async () => store.read(org, name)).rejects.toThrow('no name of stored content');
      await expect(async () => store.put(org, name, bytes)).rejects.toThrow('no name of stored content');
    }
    await store.remove(orgA, hashOf(bytes));
  });

  it('never shows partial content, nor content under a wrong hash [STORE-003]', async () => {
    const store = stores[kind];
    const bytes = randomBytes(9 * megabyte);
    const cut = store.put(orgA, hashOf(bytes), chunksOf(bytes, megabyte, new Error('the sender went away')));
    await expect(cut).rejects.toThrow('the sender went away');
    for (const content of [Buffer.from('another'), chunksOf(bytes.subarray(1), megabyte)]) {
      await expect(store.put(orgA, hashOf(bytes), content)).rejects.toThrow('another hash');
    }
    expect(await store.has(orgA, hashOf(bytes))).toBe(false);
    expect(await listed(store)).toEqual([]);
    if (kind === 'disk')
      expect((await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile())).toEqual(
        [],
      );
  });
});

describe('a failing store', () => {
  const bytes = randomBytes(3 * megabyte);
  const name = hashOf(bytes);

  it('retries after 500, 503 and a lost response, and resumes a broken download [STORE-004]', async () => {
    const troubles = [{ answer: 503, code: 'SlowDown' }, { answer: 500, code: 'InternalError' }, 'silence' as const];
    s3.trouble(() => troubles.shift() ?? null);
    await stores.s3.put(orgA, name, bytes);
    const cuts = [{ cutAfter: megabyte }, { cutAfter: megabyte }, { cutAfter: 17 }];
    s3.trouble(() => cuts.shift() ?? null);
    const before = s3.seen.length;
    expect(bytes.equals((await stores.s3.read(orgA, name)) ?? Buffer.alloc(0))).toBe(true);
    expect(cuts).toEqual([]);
    expect(s3.seen.length - before).toBeGreaterThan(2);
  });

  it('reports an unreachable or full store with a retry time, and recovers by itself [STORE-005]', async () => {
    const failureOf = (work: Promise<unknown>) =>
      work.then(
        () => null,
        (error: unknown) =>
          error instanceof Failure ? [error.status, error.code, error.message, error.details.retry_after_ms] : error,
      );
    const away = [503, 'not_ready', 'The file store is unreachable. Try again shortly.', 5000];
    s3.trouble(() => ({ answer: 503, code: 'ServiceUnavailable' }));
    expect(
      await Promise.all(
        [
          stores.s3.put(orgA, name, bytes),
          stores.s3.read(orgA, name),
          stores.s3.has(orgA, name),
          stores.s3.remove(orgA, name),
        ].map(failureOf),
      ),
    ).toEqual([away, away, away, away]);
    for (const full of [
      { answer: 507 },
      { answer: 500, code: 'InsufficientStorage' },
      { answer: 403, code: 'QuotaExceeded' },
    ]) {
      s3.trouble(({ method }) => (method === 'PUT' ? full : null));
      expect(await failureOf(stores.s3.put(orgB, name, bytes))).toEqual([
        503,
        'not_ready',
        expect.stringContaining('no room left'),
        60_000,
      ]);
    }
    s3.trouble(() => null);
    expect(await stores.s3.has(orgB, name)).toBe(false);
    await stores.s3.put(orgB, name, bytes);
    expect(bytes.equals((await stores.s3.read(orgA, name)) ?? Buffer.alloc(0))).toBe(true);
  });

  it('ends the reader early if the stored bytes are damaged [STORE-003]', async () => {
    const damaged = Buffer.from('damaged');
    await stores.s3.put(orgA, 'dddd.other', damaged);
    const opened = await stores.s3.open(orgA, 'dddd.other');
    expect(await whole(opened?.chunks ?? chunksOf(damaged, 1))).toEqual(damaged);
    const { verifyWhileReading } = await import('./file-store.ts');
    const got: Uint8Array[] = [];
    await expect(async () => {
      for await (const chunk of verifyWhileReading(
        name,
        chunksOf(Buffer.from(bytes).fill(~(bytes[0] as number), 0, 1), megabyte),
      ))
        got.push(chunk);
    }).rejects.toThrow('is damaged');
    expect(Buffer.concat(got).length).toBeLessThan(bytes.length);
  });

  it('reports wrong keys without showing a credential [STORE-006]', async () => {
    const secret = 'wrong-secret-value';
    const keys = { accessKeyId: 'S3RVER', secretAccessKey: () => secret, sessionToken: null };
    const store = createS3Store({ ...s3.place, keys }, log);
    const refused = await store.put(orgA, name, bytes).catch((error: Error) => error.message);
    expect(refused).toMatch(/refused a PUT: 403 SignatureDoesNotMatch\. Check AWS_ACCESS_KEY_ID/);
    expect(refused + warnings.join()).not.toContain(secret);
    await store.close();
  });
});

describe('a signed link', () => {
  const page = Buffer.from('<script>alert(1)</script>');
  const link = (seconds: number, mediaType = 'text/html') =>
    stores.s3.link(orgA, hashOf(page), { filename: 'a "b".html', mediaType, seconds }) as string;

  it('downloads the file as an attachment until it expires [STORE-007]', async () => {
    await stores.s3.put(orgA, hashOf(page), page);
    const answer = await fetch(link(60));
    expect(await answer.text()).toBe(page.toString());
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': "attachment; filename*=UTF-8''a%20%22b%22.html",
      'cache-control': 'private, no-store',
    });
    expect((await fetch(link(60, 'image/png'))).headers.get('content-type')).toBe('image/png');
    // The link has expired before it is used.
    const expired = await fetch(link(-1));
    expect([expired.status, await expired.text()]).toEqual([403, expect.stringContaining('Request has expired')]);
    const of = new URL(link(60));
    of.pathname = of.pathname.replace(orgA, orgB);
    expect((await fetch(of)).status).toBe(403);
    expect(stores.disk.link(orgA, hashOf(page), { filename: 'a', mediaType: 'a/b', seconds: 1 })).toBeNull();
    expect(warnings.join()).not.toContain('X-Amz-Signature');
  });
});

describe('the metrics of a file store', () => {
  const bytes = Buffer.from('measured');
  const name = hashOf(bytes);

  it('count and time each request by its outcome [OPS-745]', async () => {
    const metrics = createMetrics({ version: '1', role: 'all', queues: [], now: Date.now });
    const samples = async () =>
      new Map(
        (await metrics.registry.write('prometheus'))
          .split('\n')
          .filter((line) => line.startsWith('vestra_file_store_request'))
          .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
      );
    const store = measuredStore(stores.s3, metrics);
    expect((await samples()).get('vestra_file_store_requests_total{operation="put",outcome="unreachable"}')).toBe(0);

    await store.put(orgA, name, chunksOf(bytes, 3));
    await whole((await store.open(orgA, name))?.chunks ?? expect.fail());
    await store.has(orgA, 'nowhere');
    const breaking = store.put(orgA, hashOf(Buffer.from('x')), chunksOf(bytes, 3, new Error('The sender left.')));
    await expect(breaking).rejects.toThrow('The sender left.');
    s3.trouble(() => ({ answer: 503, code: 'ServiceUnavailable' }));
    await expect(store.read(orgA, name)).rejects.toThrow('unreachable');
    s3.trouble(({ method }) => (method === 'PUT' ? { answer: 507 } : null));
    await expect(store.put(orgB, name, bytes)).rejects.toThrow('no room left');
    s3.trouble(() => ({ answer: 403, code: 'AccessDenied' }));
    await expect(store.remove(orgA, name)).rejects.toThrow('refused');
    // The store goes away after the first bytes of a download.
    s3.trouble(() => null);
    const large = randomBytes(2 * megabyte);
    await store.put(orgA, 'abcd.home', large);
    s3.trouble(() => ({ cutAfter: 1000 }));
    const opened = await store.open(orgA, 'abcd.home');
    await expect(whole(opened?.chunks ?? expect.fail())).rejects.toThrow('unreachable');
    metrics.stop();

    const all = await samples();
    const counted = [...all].filter(([sample, value]) => sample.includes('requests_total') && value > 0);
    expect(Object.fromEntries(counted.map(([sample, value]) => [/\{.*/.exec(sample)?.[0], value]))).toEqual({
      '{operation="put",outcome="ok"}': 2,
      '{operation="put",outcome="aborted"}': 1,
      '{operation="put",outcome="full"}': 1,
      '{operation="open",outcome="ok"}': 2,
      '{operation="open",outcome="unreachable"}': 1,
      '{operation="has",outcome="ok"}': 1,
      '{operation="read",outcome="unreachable"}': 1,
      '{operation="remove",outcome="failed"}': 1,
    });
    expect(all.get('vestra_file_store_request_duration_seconds_count{operation="put"}')).toBe(4);
  });
});
