import { extendPartitions } from '../platform/db/partitions.ts';
import type { catalog } from '../platform/jobs/catalog.ts';
import { pruneOld } from '../platform/jobs/retention.ts';
import type { SweepSource } from '../platform/jobs/sweep.ts';
import type { JobHandlers } from '../platform/jobs/worker.ts';
import type { Registration } from '../platform/registration.ts';
import type { Kernel } from './kernel.ts';

/** The jobs of all modules, and the two jobs that clean up for all of them. */
export function jobHandlers({ db }: Kernel, modules: readonly Registration[]): JobHandlers<typeof catalog> {
  const expiry = modules.flatMap((module) => module.expiry ?? []);
  const retention = modules.flatMap((module) => module.retention ?? []);
  return {
    ...Object.assign({}, ...modules.map(({ jobs }) => jobs)),
    housekeeping: async (_payload, { signal }) => {
      // Housekeeping runs once an hour, so it must remove all expired rows, without a limit.
      await pruneOld(db, expiry, { signal, maxBatches: Number.POSITIVE_INFINITY });
      for (const { housekeeping } of modules) await housekeeping?.(signal);
    },
    retention: (_payload, { signal }) => pruneOld(db, retention, { signal }),
  } satisfies Partial<JobHandlers<typeof catalog>> as JobHandlers<typeof catalog>;
}

export const sweepSources = (modules: readonly Registration[]): SweepSource[] =>
  modules.flatMap(({ sweeps }) => sweeps ?? []);

/** After a long stop, creates the missing partitions before the first request. The retention job does it later. */
export async function preparePartitions({ db, log }: Kernel, modules: readonly Registration[]): Promise<void> {
  const groups = modules.flatMap(({ retention }) => retention ?? []).flatMap(({ partitions }) => partitions ?? []);
  await extendPartitions(db, groups).catch((error: unknown) => {
    log.warn({ err: error }, 'could not create partitions, will retry');
  });
}
