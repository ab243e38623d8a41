import type { Engine } from '../engine/index.ts';
import type { Kernel } from '../platform/kernel.ts';
import { anHour, type Registration } from '../platform/registration.ts';
import { advanceBatch, unfinishedBatches } from './batches/advance.ts';
import { batchRoutes } from './batches/routes.ts';
import type { BatchSharing } from './batches/slots.ts';
import { eraseItemsOf, itemEraser } from './batches/store.ts';
import { routineRoutes, routineRunRoutes } from './routines/routes.ts';
import { changeArchivedRoutines, detachFromConversations } from './routines/routine-changes.ts';
import { runRoutinesOnTime } from './routines/runs.ts';
import { deleteRoutinesOf } from './routines/store.ts';
import { pruneDeliveries } from './webhooks/deliveries.ts';
import { deliveryRoutes, webhookRoutes } from './webhooks/routes.ts';
import { pruneWebhookSecrets } from './webhooks/signatures.ts';
import { deliveryPartitions } from './webhooks/tables.ts';

export function register(kernel: Kernel, { engine, sharing }: { engine: Engine; sharing: BatchSharing }): Registration {
  const { config, db, vault, jobs, outbound, assertCallable } = kernel;
  return {
    routes: ({ publicUrl }) => ({
      webhooks: {
        ...webhookRoutes({ db, vault, assertCallable }),
        ...deliveryRoutes({ db, vault, outbound }),
      },
      routines: {
        ...routineRoutes({ db, publicUrl, announcer: engine.announcer }),
        ...routineRunRoutes({ engine, publicUrl: () => publicUrl }),
      },
      batches: batchRoutes({ engine }),
    }),
    jobs: {
      'batch.advance': ({ org_id, mode, batch_id }) =>
        advanceBatch(engine, { orgId: org_id, mode, batchId: batch_id }, sharing),
      'routine.run_due': (_payload, { signal }) =>
        runRoutinesOnTime({ engine, publicUrl: kernel.publicUrl.get }, signal),
    },
    sweeps: [unfinishedBatches],
    retention: [{ days: config.retentionDays.deliveries, prune: pruneDeliveries, partitions: deliveryPartitions }],
    expiry: [{ days: anHour, prune: pruneWebhookSecrets }],
    conversationErasure: [detachFromConversations, eraseItemsOf],
    objectErasure: [
      // Routines that used it by default have another default now, or none.
      async (tx, { orgId }, { object }) => {
        if (object === 'deployment') await changeArchivedRoutines(tx, orgId);
      },
    ],
    erasure: [deleteRoutinesOf, itemEraser(jobs)],
  };
}
