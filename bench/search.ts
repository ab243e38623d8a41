import { join } from 'node:path';
import { newId } from '@vestra/contract/ids';
import { insertOrg } from '@vestra/server/account/orgs/store';
import { createOfflineEmbeddings } from '@vestra/server/agents/embeddings/offline';
import { createNotebook } from '@vestra/server/agents/notebooks/notebook';
import { addDocument, prepareDocument } from '@vestra/server/agents/notebooks/notebook-documents';
import { createPassageMeaning } from '@vestra/server/agents/notebooks/passage-meaning';
import { searchNotebooks } from '@vestra/server/agents/notebooks/search';
import type { Origin } from '@vestra/server/platform/caller';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { migrate } from '@vestra/server/platform/db/migrate';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { createVault, openMasterKeys } from '@vestra/server/platform/secrets/vault';
import { findFacts } from '@vestra/server/users/memory/find-facts';
import { load, type Measured } from './load.ts';
import type { Row, Stage } from './report.ts';

const documents = 10;
const documentBytes = 510_000;
const facts = 100_000;
const users = 100;
const log = { warn: () => {} };

/** Searches of a full notebook and of memory, at the functions that routes and tools call, with nothing else running. */
export async function measureSearch({ folder, seconds, share }: Stage): Promise<Row[]> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'search-database'), log: () => {} });
  const db = await openDatabase({ connectionString: postgres.connectionString, max: 4 });
  const embeddings = createOfflineEmbeddings();
  try {
    await migrate(db, join(import.meta.dirname, '../packages/server/src/platform/db/migrations'));
    const orgId = newId('org');
    const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'ab'.repeat(32) }));
    await insertOrg(db, { id: orgId, name: 'Search', wrapped_data_key: vault.newDataKey(orgId) });
    const notebookId = await fillNotebook(db, orgId, Math.max(1, Math.round(documents * share)), embeddings.model);
    await fillMemory(db, orgId, Math.max(users, Math.round(facts * share)), embeddings.model);
    const meaning = createPassageMeaning({ db, embeddings, comparesVectors: false, log });
    let asked = 0;
    const notebook = (ranked: typeof meaning | null) => () => {
      const query = `how is ${words[asked % words.length]} number ${(asked++ * 37) % 900} handled`;
      const reader = { orgId, notebookIds: [notebookId], revisions: null, userId: null };
      return searchNotebooks(db, { ...reader, query, limit: 5 }, ranked);
    };
    const recall = () => {
      const owner = { orgId, mode: 'test' as const, userId: `u${asked++ % users}` };
      return findFacts({ db, embeddings, log }, owner, {
        query: 'Which invoice does the customer wait for?',
        limit: 5,
      });
    };
    const byWords = await load(2, seconds, notebook(null));
    const byBoth = await load(2, seconds, notebook(meaning));
    const byFacts = await load(2, seconds, recall);
    return [
      { what: 'search by words in a full notebook of 5 MB, 2 at once', measured: rate(byWords), budget: 'p50 30 ms' },
      { what: 'search by words and meaning in it, 2 at once', measured: rate(byBoth), budget: 'p50 60 ms' },
      {
        what: 'recall from 1,000 facts of a user, 100,000 of the org, 2 at once',
        measured: rate(byFacts),
        budget: 'p50 30 ms',
      },
    ];
  } finally {
    await embeddings.close();
    await closeDatabase(db);
    await postgres.stop();
  }
}

const rate = ({ perSecond, p50, p95 }: Measured) =>
  `${Math.round(perSecond)}/s, p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)} ms`;

/** The vectors are noise: comparing them costs the same, and encoding 5 MB would take two minutes. */
async function fillNotebook(db: Database, orgId: string, count: number, model: string): Promise<string> {
  const actor = { type: 'system', id: 'system', name: 'Vestra' } as const;
  const origin: Origin = { orgId, mode: 'live', actor, requestId: null, ip: null };
  const { id } = await transaction(db, (tx) =>
    createNotebook(tx, origin, { name: 'Full', slug: 'full', description: '', access: { mode: 'all' } }),
  );
  const jobs = { send: async () => '', sendMany: async () => [] };
  for (let at = 0; at < count; at++) {
    const document = prepareDocument({
      title: `Part ${at}`,
      text: textOf(at, documentBytes),
      contentType: 'text/plain',
      param: 'text',
    });
    const change = { promote: 'no' as const, republishLive: async () => {}, jobs };
    await transaction(db, (tx) => addDocument(tx, origin, { notebookId: id, document, replace: false }, change));
  }
  await db.$client.query(
    `INSERT INTO document_indexes (document_id, model, total, windows, completed_at)
     SELECT id, $1, 5000, 5000, now() FROM documents`,
    [model],
  );
  await db.$client.query(
    `INSERT INTO document_vectors (document_id, model, first_window, positions, vectors)
     SELECT d.id, $1, 32 * part, ARRAY(SELECT (32 * part + n) / 12 FROM generate_series(0, 31) n), ${noise('512 * 32')}
     FROM documents d, generate_series(0, 155) part`,
    [model],
  );
  await db.$client.query('ANALYZE');
  return id;
}

async function fillMemory(db: Database, orgId: string, count: number, model: string): Promise<void> {
  await db.$client.query(
    `INSERT INTO users (org_id, mode, id, created_at) SELECT $1, 'test', 'u' || n, now() FROM generate_series(0, $2) n`,
    [orgId, users - 1],
  );
  await db.$client.query(
    `INSERT INTO memories (org_id, mode, id, user_id, text, kind, source, fingerprint, search, vector, vector_model, observed_at)
     SELECT $1, 'test', 'mem_' || lpad(n::text, 24, '0'), 'u' || n % ${users}, text, 'other', 'user_direct',
       sha256(text::bytea), to_tsvector('english', text), ${noise('512')}, $4, now() - n * interval '1 minute'
     FROM (
       SELECT n, ($3::text[])[1 + n % ${words.length}] || ' ' || n || ' of the ' ||
         ($3::text[])[1 + n / 7 % ${words.length}] || ' is at desk ' || n % 97 AS text
       FROM generate_series(1, $2) n) facts`,
    [orgId, count, words, model],
  );
  await db.$client.query('ANALYZE memories');
}

/** So many bytes as SQL, different for each row. */
const noise = (bytes: string) =>
  `substring(decode(repeat(md5(random()::text) || md5(random()::text), ${bytes} / 32 + 1), 'hex') FROM 1 FOR ${bytes})`;

const words =
  'order parcel refund invoice customer delivery address warehouse return policy voucher season colour size'.split(' ');

/** Paragraphs in which common words are common and each number is rare. */
function textOf(part: number, size: number): string {
  const paragraphs: string[] = [];
  for (let length = 0, at = part * 10_000; length < size; at++) {
    const sentence = Array.from({ length: 14 }, (_, word) => words[(at * 7 + word * word) % words.length]).join(' ');
    const paragraph = `The ${sentence} number ${at} is handled by desk ${at % 97}.\n\n`;
    paragraphs.push(paragraph);
    length += paragraph.length;
  }
  return paragraphs.join('').slice(0, size);
}
