import type { Caller } from '../caller.ts';
import type { Transaction } from '../db/pool.ts';
import type { Committed, Reply } from './handler.ts';

type Call = {
  caller: Caller;
  headers: Headers;
  commit: <Body>(work: (tx: Transaction) => Promise<Body | Reply<Body>>) => Promise<Committed<Body>>;
};

const notKept = new Error('No answer is kept under this key.');
const inFlight = new Map<string, Promise<unknown>>();

/**
 * For answers that take longer than a transaction may last, such as those of a model: `prepare` runs outside of any, and
 * only where the Idempotency-Key has no answer yet. Calls of one key in this process come one after the other; in two
 * processes at the very same moment both prepare, and the second one answers what the first has committed.
 */
export async function commitPrepared<Prepared, Body>(
  call: Call,
  prepare: () => Promise<Prepared>,
  work: (tx: Transaction, prepared: Prepared) => Promise<Body | Reply<Body>>,
): Promise<Committed<Body>> {
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

  async function prepareAndCommit(): Promise<Committed<Body>> {
    const prepared = await prepare();
    return commit((tx) => work(tx, prepared));
  }

  async function answerKept(): Promise<Committed<Body>> {
    const kept = await commit<Body>(() => Promise.reject(notKept)).catch((error: unknown) => {
      if (error === notKept) return null;
      throw error;
    });
    return kept ?? prepareAndCommit();
  }
}
