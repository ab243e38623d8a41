import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TurnstileSettings } from '@vestra/server/engine/turns/turnstile';
import { createLog } from '@vestra/server/main/log';
import { type Server, startServer } from '@vestra/server/main/start';
import type { VoiceParts } from '@vestra/server/main/voice';
import { type Config, readConfig } from '@vestra/server/platform/config/config';
import { assertContract, assertEvents } from './contract.ts';
import { recordExchange, recordLogLine } from './failure-notes.ts';
import { startRoundRobin } from './round-robin.ts';
import { createTestDatabase } from './test-database.ts';

export type ApiResponse = { status: number; headers: Headers; body: Body; text: string };
// biome-ignore lint/suspicious/noExplicitAny: tests read answers field by field, and the contract check below has seen them all.
type Body = any;

export type CallOptions = {
  key?: string | null;
  body?: unknown;
  raw?: string | Uint8Array | FormData;
  headers?: Record<string, string>;
};

export type TestServer = {
  url: string;
  orgId: string;
  testKey: string;
  liveKey: string;
  owner: { email: string; password: string };
  connectionString: string;
  /** Calls with the test key unless told otherwise, and holds every answer against the contract. */
  call: (method: string, path: string, options?: CallOptions) => Promise<ApiResponse>;
  stop: () => Promise<void>;
};

export type TestServerOptions = {
  env?: Record<string, string>;
  /** Joins the database of another test server instead of making one. */
  beside?: TestServer;
  /** Leases that do not follow from `VESTRA_LEASE_SECONDS`, and a load that the test sets. */
  runs?: Partial<Config['runs']> & { turnstile?: TurnstileSettings };
  /** Voice parts: transport, recognition and speech. Absent: those that are installed. */
  voice?: VoiceParts;
};

/** How many servers stand behind one address: with two, each call of a test meets another than the one before. */
const processes = Number(process.env.VESTRA_TEST_PROCESSES ?? 1);

/**
 * Counts of one process are only exact if there is one: its places at work (`messages-turns`), its
 * streams of a credential (`session-company`), its counters (`metrics`), what it has in hand of a minute (`rate-limits`).
 * `several-processes` asks each by its own address and names a port for that. Every other scenario runs against two as
 * well; those that start programs (`start`, `package`, `documented-blocks` …) start as many as they say.
 */
export const isOneProcess = processes === 1;

/** Starts a whole server on a new database, reached over a real socket on loopback. */
export async function startTestServer({ env = {}, beside, runs, voice }: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vestra-test-'));
  const database = beside ? null : await createTestDatabase();
  const connectionString = beside?.connectionString ?? (database as { connectionString: string }).connectionString;
  const isMany = !isOneProcess && !beside && env.PORT === undefined;
  const front = isMany ? await startRoundRobin() : null;
  const { runs: usual, ...config } = readConfig({
    PORT: '0',
    ...(front && { VESTRA_PUBLIC_URL: front.url }),
    VESTRA_DATA_DIR: dataDir,
    DATABASE_URL: connectionString,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    VESTRA_REQUESTS_PER_MINUTE: '1000000',
    // No test asks a vendor unless it says so.
    VESTRA_ASK_FOR_MODELS: '0',
    VESTRA_EMBEDDINGS: 'offline',
    // A thread would watch the event loop of the test, which servers share.
    VESTRA_WATCHDOG_SECONDS: '0',
    ...env,
  });
  const log = createLog('warn', { write: recordLogLine });
  const start = () => startServer({ ...config, runs: { ...usual, ...runs } }, log, undefined, voice);
  const server: Server = await start();
  const others: Server[] = [];
  for (let more = 1; front && more < processes; more++) others.push(await start());
  for (const each of [server, ...others]) front?.add(each.url as string);
  const made = server.firstCredentials;
  const url = front?.url ?? (server.url as string);
  const testKey = beside?.testKey ?? (made?.test_key as string);
  return {
    url,
    orgId: beside?.orgId ?? (made?.org_id as string),
    testKey,
    liveKey: beside?.liveKey ?? (made?.live_key as string),
    owner: beside?.owner ?? (made?.owner as TestServer['owner']),
    connectionString,
    call: (method, path, options = {}) => call(url, testKey, method, path, options),
    async stop() {
      await Promise.all([server, ...others].map((each) => each.stop()));
      front?.close();
      if (database) await assertEvents(connectionString).finally(database.drop);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** One request over the socket; the answer is held against the row of the contract that it belongs to. */
export async function call(
  url: string,
  defaultKey: string | null,
  method: string,
  path: string,
  { key = defaultKey, body, raw, headers = {} }: CallOptions,
): Promise<ApiResponse> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined ? { body: JSON.stringify(body) } : raw !== undefined ? { body: raw as BodyInit } : {}),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const answer: ApiResponse = {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : null,
    text,
  };
  recordExchange({ method, path, sent: body ?? (typeof raw === 'string' ? raw : undefined), ...answer });
  if (isJson) assertContract(method, path, answer, key);
  return answer;
}
