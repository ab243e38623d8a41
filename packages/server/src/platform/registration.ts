import type { Hono } from 'hono';
import type { Tenant } from './caller.ts';
import type { Transaction } from './db/pool.ts';
import type { Identities } from './http/authenticate.ts';
import type { AllHandlers } from './http/handler.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import type { DeletedObject } from './http/request-pipeline.ts';
import type { Streams } from './http/streams.ts';
import type { catalog } from './jobs/catalog.ts';
import type { PruneRule } from './jobs/retention.ts';
import type { SweepSource } from './jobs/sweep.ts';
import type { JobHandlers } from './jobs/worker.ts';

/** The part of a module in a server: `register(kernel, …)` of each module returns one. */
export type Registration = {
  /**
   * Called once the address of the server is known, and only in a process that serves callers. `lower` are the handlers of
   * the modules below, for a module that wraps one of them.
   */
  routes?: (serving: Serving, lower: AllHandlers) => AllHandlers;
  /** Pages and documents outside the contract's routes. */
  pages?: (serving: Serving) => readonly ((app: Hono) => void)[];
  /** Recognises callers by their tokens. */
  identities?: (serving: Serving) => Partial<Identities>;
  jobs?: Partial<JobHandlers<typeof catalog>>;
  /** Finds rows whose job was lost. */
  sweeps?: readonly SweepSource[];
  /** Rows that are deleted after the number of days in a setting. */
  retention?: readonly PruneRule[];
  /** Rows that expire. */
  expiry?: readonly PruneRule[];
  /** Hourly tasks that no rule describes. */
  housekeeping?: (signal: AbortSignal) => Promise<void>;
  /** Deletes the rows about conversations, from the highest module down and in one transaction. */
  conversationErasure?: readonly EraseConversations[];
  /** Deletes what a module stores about a task, from the highest module down and in the transaction that deletes it. */
  taskErasure?: readonly EraseTask[];
  /** Deletes what a module stores about files, in the transaction that deletes them. */
  fileErasure?: readonly EraseFiles[];
  /** Deletes what a module stores about an object that a route deleted, from the highest module down. */
  objectErasure?: readonly EraseObject[];
  /** Deletes the rows of a user. The steps run from the highest module down, so that none can create rows again below. */
  erasure?: readonly EraseStep[];
};

/** Deletes everything that a module stores about conversations. */
export type EraseConversations = (
  tx: Transaction,
  tenant: Tenant,
  conversationIds: readonly string[],
  /** Runs after the commit. */
  afterwards: (work: () => void) => void,
) => Promise<void>;

/** `messageIds` are the messages with its result. */
type ErasedTask = { taskId: string; conversationId: string; messageIds: readonly string[] };

export type EraseTask = (tx: Transaction, tenant: Tenant, task: ErasedTask) => Promise<void>;

export type EraseFiles = (tx: Transaction, tenant: Tenant, files: readonly { id: string }[]) => Promise<void>;

/** Called for both modes, because they share the objects of the configuration. */
export type EraseObject = (tx: Transaction, tenant: Tenant, deleted: DeletedObject) => Promise<void>;

/** A step may run again after a crash, and then finds less to delete. */
export type EraseStep = (
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  /** Runs after the commit. */
  afterwards: (work: () => void) => void,
) => Promise<void>;

/** Services that only a process with callers has. */
export type Serving = { publicUrl: string; streams: Streams; rateLimiter: RateLimiter };

/** The handlers of all modules by family, lower modules first. */
export function joinRoutes(registrations: readonly Registration[], serving: Serving): AllHandlers {
  const joined: Record<string, object> = {};
  for (const { routes } of registrations) {
    for (const [family, handlers] of Object.entries(routes?.(serving, joined) ?? {})) {
      joined[family] = { ...joined[family], ...handlers };
    }
  }
  return joined;
}

export const joinIdentities = (registrations: readonly Registration[], serving: Serving): Identities =>
  Object.assign({}, ...registrations.map(({ identities }) => identities?.(serving)));

/** In days. The clocks of a process and of the database may differ this much, so expired rows stay at least as long. */
export const anHour = 1 / 24;
