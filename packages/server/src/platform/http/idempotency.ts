import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Caller, Tenant } from '../caller.ts';
import type { Database, Transaction } from '../db/pool.ts';
import { one, pipelined, prune, run, runStatement, sendLater } from '../db/query.ts';
import { type Sql, sql, sqlState } from '../db/sql.ts';
import { boolean, bytes, integer, type RowOf } from '../db/table.ts';
import { transaction } from '../db/transaction.ts';
import { isDatabaseUnreachable } from '../db/unreachable.ts';
import type { CommittedResponse, Reply } from './handler.ts';
import { idempotencyKeys } from './tables.ts';

export type StoredAnswer = { status: number; body: string };

type Guarded = {
  tenant: Tenant;
  route: string;
  key: string;
  /** The hash of method, path, query and content. */
  requestHash: Buffer;
  showsSecret: boolean;
};

/** Encrypts stored responses that show a secret. */
export type AnswerSeal = {
  seal: (tx: Transaction, tenant: Tenant, route: string, key: string, body: string) => Promise<Buffer>;
  open: (tx: Transaction, tenant: Tenant, route: string, key: string, sealed: Buffer) => Promise<string>;
};

export type Idempotency = {
  /** Runs the work, or returns the stored response of an earlier request with the same key. */
  once: (
    call: Guarded,
    work: (tx: Transaction) => Promise<StoredAnswer>,
  ) => Promise<StoredAnswer & { replayed: boolean }>;
};

const inProgressAfterMs = 30_000;
const lockNotAvailable = '55P03';

/**
 * Claims the key with an insert in the transaction that does the work. A second request with the same key, in any
 * process, waits for that row. If the first commits, the second returns its response. If the first fails, the second
 * does the work.
 */
export function createIdempotency(db: Database, answerSeal: AnswerSeal): Idempotency {
  const inFlight = new Map<string, Promise<unknown>>();

  async function once(call: Guarded, work: (tx: Transaction) => Promise<StoredAnswer>) {
    const name = JSON.stringify([call.tenant.orgId, call.tenant.mode, call.route, call.key]);
    // Requests of one process queue here, so that a burst uses one connection instead of one per request.
    const before = inFlight.get(name);
    const running = before ? ended(before).then(() => repeat(call, work)) : attempt(call, work);
    inFlight.set(name, running);
    const clear = () => {
      if (inFlight.get(name) === running) inFlight.delete(name);
    };
    running.then(clear, clear);
    return running;
  }

  /**
   * Sends the claim in the same write as the first statement of the work, because nearly every key is new. The claim of
   * a used key fails that write: the work has read and written nothing, and `repeat` finds the stored response.
   */
  async function attempt(call: Guarded, work: (tx: Transaction) => Promise<StoredAnswer>) {
    let isClaimed = false;
    try {
      return await transaction(db, async (tx) => {
        isClaimed = false;
        const claimed = () => {
          isClaimed = true;
        };
        await sendLater(tx, [{ ...claimStatement(call, { mustBeNew: true }), result: claimed }]);
        return { ...(await keep(tx, call, await work(tx))), replayed: false };
      });
    } catch (error) {
      if (isClaimed || isDatabaseUnreachable(error)) throw error;
      if (sqlState(error) === lockNotAvailable) throw fail('idempotency_in_progress');
      return repeat(call, work);
    }
  }

  /** Claims the key before the work begins. */
  async function repeat(call: Guarded, work: (tx: Transaction) => Promise<StoredAnswer>) {
    try {
      return await transaction(db, async (tx) => {
        const kept = await claim(tx, call);
        if (kept) return { ...(await answerOf(tx, kept, call)), replayed: true };
        return { ...(await keep(tx, call, await work(tx))), replayed: false };
      });
    } catch (error) {
      if (sqlState(error) === lockNotAvailable) throw fail('idempotency_in_progress');
      throw error;
    }
  }

  async function answerOf(tx: Transaction, kept: KeptAnswer, call: Guarded): Promise<StoredAnswer> {
    if (!kept.request_hash.equals(call.requestHash)) throw fail('idempotency_key_reused');
    const body = kept.encrypted
      ? await answerSeal.open(tx, call.tenant, call.route, call.key, kept.answer)
      : kept.answer.toString('utf8');
    return { status: kept.status, body };
  }

  async function keep(tx: Transaction, call: Guarded, answer: StoredAnswer): Promise<StoredAnswer> {
    const { tenant, route, key, showsSecret } = call;
    const bytes = showsSecret
      ? await answerSeal.seal(tx, tenant, route, key, answer.body)
      : Buffer.from(answer.body, 'utf8');
    await sendLater(tx, [
      runStatement(sql`
        UPDATE ${idempotencyKeys} SET status = ${answer.status}, answer = ${bytes}, encrypted = ${showsSecret}
        WHERE ${named(call)}`),
    ]);
    return answer;
  }

  return { once };
}

/**
 * Stores a prepared response in the group of statements that does the work. The group fails if the key exists, and
 * `once` then finds the earlier response. Not for responses that show a secret.
 */
export function storeAnswerStatement({ tenant, route, key, requestHash }: Guarded, { status, body }: StoredAnswer) {
  return runStatement(sql`
    WITH kept AS (
      INSERT INTO ${idempotencyKeys} (org_id, mode, route, key, request_hash, status, answer)
      VALUES (${tenant.orgId}, ${tenant.mode}, ${route}, ${key}, ${requestHash}, ${status}, ${Buffer.from(body, 'utf8')})
      ON CONFLICT DO NOTHING RETURNING 1)
    SELECT expect_that(EXISTS (SELECT FROM kept), 'that nothing was answered under this key')`);
}

const keptAnswer = { request_hash: bytes(), status: integer(), answer: bytes(), encrypted: boolean() };

type KeptAnswer = RowOf<typeof keptAnswer>;

const named = ({ tenant, route, key }: Guarded): Sql =>
  sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode} AND route = ${route} AND key = ${key}`;

/** Claims the key for this transaction, or returns the response stored under it in the last 24 hours. */
async function claim(tx: Transaction, call: Guarded): Promise<KeptAnswer | null> {
  const [claimed] = await pipelined(tx, [claimStatement(call, { mustBeNew: false })]);
  if (claimed > 0) return null;
  return one(
    tx,
    keptAnswer,
    sql`SELECT request_hash, status, answer, encrypted FROM ${idempotencyKeys} WHERE ${named(call)}`,
  );
}

/** The lock timeout is set before the row is inserted and reset after it. With `mustBeNew`, a used key is an error. */
function claimStatement({ tenant, route, key, requestHash }: Guarded, { mustBeNew }: { mustBeNew: boolean }) {
  const claimed = sql`
    INSERT INTO ${idempotencyKeys} AS kept (org_id, mode, route, key, request_hash)
    SELECT ${tenant.orgId}, ${tenant.mode}, ${route}, ${key}, ${requestHash}::bytea
    FROM set_config('lock_timeout', ${String(inProgressAfterMs)}, true)
    ON CONFLICT (org_id, mode, route, key) DO UPDATE
      SET request_hash = excluded.request_hash, status = NULL, answer = NULL, encrypted = false, created_at = now()
      WHERE kept.created_at < now() - interval '24 hours'
    RETURNING set_config('lock_timeout', '0', true)`;
  return runStatement(
    mustBeNew
      ? sql`WITH claimed AS (${claimed}) SELECT expect_that(EXISTS (SELECT FROM claimed), 'that the key is new')`
      : claimed,
  );
}

/**
 * Deletes stored responses that name an erased object, or that show one of these rows. With `objects`, only those that
 * show such an object. Encrypted responses cannot be searched, and expire after 24 hours.
 */
export async function deleteAnswers(
  tx: Transaction,
  { orgId, mode }: Tenant,
  {
    named,
    shownIds = [],
    objects = null,
  }: { named: readonly string[]; shownIds?: readonly string[]; objects?: readonly string[] | null },
): Promise<void> {
  const namesInJson = named.map((name) => Buffer.from(JSON.stringify(name), 'utf8'));
  await run(
    tx,
    sql`
      DELETE FROM ${idempotencyKeys}
      WHERE org_id = ${orgId} AND mode = ${mode} AND NOT encrypted AND (
        EXISTS (SELECT FROM unnest(${namesInJson}::bytea[]) AS name WHERE position(name IN answer) > 0)
        OR convert_from(answer, 'UTF8')::json ->> 'id' = ANY(${shownIds}))
        AND (${objects}::text[] IS NULL OR convert_from(answer, 'UTF8')::json ->> 'object' = ANY(${objects}))`,
  );
}

/** Deletes expired responses. Returns false if none is left. */
export const pruneAnswers = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, idempotencyKeys, sql`created_at < ${before}`, limit);

/** Waits for a request to end, with or without success, for at most 30 s. */
async function ended(call: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(fail('idempotency_in_progress')), inProgressAfterMs);
  });
  const done = call.then(
    () => {},
    () => {},
  );
  await Promise.race([done, tooLong]).finally(() => clearTimeout(timer));
}

/** Hash the parts of a multipart body, because its boundary differs in every request. */
export function hashRequest(parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest();
}

type Call = {
  caller: Caller;
  headers: Headers;
  commit: <Body>(work: (tx: Transaction) => Promise<Body | Reply<Body>>) => Promise<CommittedResponse<Body>>;
};

const notKept = new Error('No response is stored under this key.');
const inFlight = new Map<string, Promise<unknown>>();

/**
 * For responses that take longer than a transaction may last, such as those of a model. `prepare` runs outside a
 * transaction, and only if the Idempotency-Key has no response yet. Requests with the same key run one after the other
 * in one process. In two processes both may prepare, and the second returns the response that the first committed.
 */
export async function commitPrepared<Prepared, Body>(
  call: Call,
  prepare: () => Promise<Prepared>,
  work: (tx: Transaction, prepared: Prepared) => Promise<Body | Reply<Body>>,
): Promise<CommittedResponse<Body>> {
  const { caller, headers, commit } = call;
  const key = headers.get('idempotency-key');
  if (key === null) return prepareAndCommit();
  const name = JSON.stringify([caller.orgId, caller.mode, key]);
  const before = inFlight.get(name) ?? Promise.resolve();
  const running = before.then(
    () => answerKept(),
    () => answerKept(),
  );
  inFlight.set(name, running);
  return running.finally(() => {
    if (inFlight.get(name) === running) inFlight.delete(name);
  });

  async function prepareAndCommit(): Promise<CommittedResponse<Body>> {
    const prepared = await prepare();
    return commit((tx) => work(tx, prepared));
  }

  async function answerKept(): Promise<CommittedResponse<Body>> {
    const kept = await commit<Body>(() => Promise.reject(notKept)).catch((error: unknown) => {
      if (error === notKept) return null;
      throw error;
    });
    return kept ?? prepareAndCommit();
  }
}
