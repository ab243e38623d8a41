import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { type Measured, measure, percentile } from './load.ts';
import { startModelProcess } from './model-process.ts';
import { duration, type Row, type Stage } from './report.ts';
import { contendWith, startWithModel } from './vestra.ts';

const documentBytes = 510_000;
const documents = 10;

/** A full notebook from its upload until all of it is searched by meaning, while turns go on one after the other. */
export async function measureIndexing({ folder, seconds, share, note }: Stage): Promise<Row[]> {
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'indexing-database'), log: () => {} });
  const rows = new pg.Client({ connectionString: postgres.connectionString });
  await rows.connect();
  const started = await startWithModel(join(folder, 'indexing-server'), model.baseUrl, {
    DATABASE_URL: postgres.connectionString,
  });
  const server = contendWith(started);
  const call = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${started.testKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${started.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  try {
    for (let at = 0; at < 20; at++) await server.turn();
    const before = await measure(1, seconds, () => server.turn());
    const { id } = await call('/v1/notebooks', { name: 'Full', slug: 'full' });
    const texts = readmes(Math.max(1, Math.round(documents * share)), share < 1 ? documentBytes / 5 : documentBytes);
    const startedAt = performance.now();
    let firstAt: number | null = null;
    let isOver = false;
    const watching = (async () => {
      for (;;) {
        const { indexed, windows } = await progressOf(rows);
        if (windows > 0) firstAt ??= performance.now();
        if (indexed === texts.length) break;
        await sleep(100);
      }
      isOver = true;
    })();
    for (const [at, text] of texts.entries()) await call(`/v1/notebooks/${id}/documents`, { title: `${at}.md`, text });
    const uploadedAt = performance.now();
    const times: number[] = [];
    while (!isOver) {
      const turnAt = performance.now();
      await server.turn();
      times.push(performance.now() - turnAt);
    }
    await watching;
    const wholeAt = performance.now();
    const { windows, encoder } = await progressOf(rows);
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const what = `a notebook of ${(bytes / 1e6).toFixed(1)} MB of READMEs`;
    note(`${windows} windows by ${encoder}, uploaded in ${duration(uploadedAt - startedAt)}`);
    const sorted = times.sort((a, b) => a - b);
    const beside = { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) };
    return [
      { what: `${what}: the first of it is searched by meaning`, measured: duration((firstAt ?? wholeAt) - startedAt) },
      { what: `${what}: all of it, beside turns`, measured: duration(wholeAt - startedAt), budget: '180 s' },
      { what: 'a turn meanwhile, 1 at a time', measured: shown(beside) },
      { what: 'a turn before, 1 at a time', measured: shown(before) },
    ];
  } finally {
    await rows.end();
    await server.stop();
    await model.stop();
    await postgres.stop();
  }
}

const shown = ({ p50, p95 }: Pick<Measured, 'p50' | 'p95'>) => `p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)} ms`;

async function progressOf(client: pg.Client): Promise<{ indexed: number; windows: number; encoder: string }> {
  const { rows } = await client.query(
    `SELECT count(completed_at)::int AS indexed, coalesce(sum(windows), 0)::int AS windows, max(model) AS encoder
     FROM document_indexes`,
  );
  return rows[0];
}

/** Dense English prose with code and tables, as a notebook of a product has it. */
function readmes(count: number, size: number): string[] {
  const root = join(import.meta.dirname, '..', 'node_modules');
  const files = globSync('**/*.md', { cwd: root }).sort();
  const texts: string[] = [];
  let text = '';
  for (const file of files) {
    text += readFileSync(join(root, file), 'utf8').replaceAll('\0', '');
    while (Buffer.byteLength(text) >= size && texts.length < count) {
      // A character has a byte or more.
      let end = size;
      while (Buffer.byteLength(text.slice(0, end)) > size) end -= 1000;
      texts.push(text.slice(0, end).toWellFormed());
      text = text.slice(end);
    }
    if (texts.length === count) return texts;
  }
  throw new Error('There is too little to read in node_modules.');
}
