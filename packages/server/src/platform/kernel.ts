import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import type { ClusterNotifications } from './cluster/cluster-notifications.ts';
import type { Config } from './config/config.ts';
import type { CheckDatabaseHealth } from './db/database-health.ts';
import type { NotifyListener } from './db/notify-listener.ts';
import type { Database } from './db/pool.ts';
import type { FileStore } from './files/file-store.ts';
import type { Reports } from './http/reports.ts';
import type { Jobs } from './jobs/queue.ts';
import type { Schemas } from './json-schema/schemas.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Outbound } from './outbound/fetcher.ts';
import type { Vault } from './secrets/vault.ts';

/** The services that all modules of one process share. Each exists once, so that its limits hold for the process. */
export type Kernel = {
  config: Config;
  log: Logger;
  /** Receives the notifications of other processes. */
  line: NotifyListener;
  db: Database;
  lookAtDatabase: CheckDatabaseHealth;
  metrics: Metrics;
  vault: Vault;
  /** All processes on this database sign with it. */
  signingSecret: Buffer;
  jobs: Jobs;
  processNews: ClusterNotifications;
  outbound: Outbound;
  /** The reason why an address must not be called, or null. It never repeats the address. */
  refuseAddress: (address: string) => string | null;
  /** Throws `invalid_request` naming the field if the server may not call the address. */
  assertCallable: (address: string, param: string) => void;
  /** Compiles the JSON Schemas of callers. */
  openSchemas: () => Promise<Schemas>;
  /** The fault of a JSON Schema, or null. */
  faultOfSchema: (schema: Readonly<Record<string, unknown>>) => Promise<string | null>;
  files: FileStore;
  models: Models;
  /** The address at which callers reach this server. Without a setting it is known once the server listens. */
  publicUrl: LazyRef<string>;
  reports: Reports;
};

/** A reference to a value that is set later. Reading it too early throws an error with the name of the value. */
type LazyRef<Value> = { get: () => Value; set: (value: Value) => void };

export function createLazyRef<Value>(name: string): LazyRef<Value> {
  let current: { value: Value } | undefined;
  return {
    get: () => {
      if (!current) throw new Error(`\`${name}\` was used before it was initialised.`);
      return current.value;
    },
    set: (value) => {
      current = { value };
    },
  };
}
