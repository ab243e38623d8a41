import { pruneAudit } from '../../account/audit/store.ts';
import { pruneEvents } from '../../account/events/store.ts';
import { pruneConsoleSessions, prunePasswordResets, pruneSignInAttempts } from '../../account/members/login-store.ts';
import { pruneGrants, pruneRegistered, pruneTokens } from '../../account/oauth-server/store.ts';
import { pruneDeliveries } from '../../automation/webhooks/delivery-store.ts';
import { pruneWebhookSecrets } from '../../automation/webhooks/store.ts';
import { pruneReservations } from '../../billing/holds-store.ts';
import { pruneOfTools, pruneUnused } from '../../engine/files/index.ts';
import { pruneStreams } from '../../engine/records/prune-streams.ts';
import { pruneTraces } from '../../engine/records/prune-traces.ts';
import { pruneConnections } from '../../integrations/apps/store.ts';
import { pruneSessions } from '../../integrations/sessions/store.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import { pruneAnswers } from '../../platform/http/idempotency.ts';
import { pruneRateWindows } from '../../platform/http/rate-limit.ts';
import { pruneGivenUpJobs } from '../../platform/jobs/queue.ts';
import type { PruneRule } from '../../platform/jobs/retention.ts';
import type { Config } from '../../platform/config/config.ts';

/** By how much the clocks of a process and of the database may differ: what has run out is kept for so long at least. */
const anHour = 1 / 24;

/** What the settings keep for a number of days, and what the file store holds for nobody. */
export const retentionRules = (days: Config['retentionDays'], files: FileStore): PruneRule[] => [
  { days: days.events, prune: pruneEvents },
  { days: days.events, prune: pruneStreams },
  { days: days.traces, prune: pruneTraces },
  { days: days.traces, prune: pruneOfTools(files) },
  // Above what an upload takes from the store to its row.
  { days: anHour, prune: pruneUnused(files) },
  { days: days.deliveries, prune: pruneDeliveries },
  { days: days.audit, prune: pruneAudit },
];

/** What has run out by itself. */
export const expiryRules: PruneRule[] = [
  { days: 1, prune: pruneAnswers },
  { days: anHour, prune: pruneConsoleSessions },
  { days: anHour, prune: prunePasswordResets },
  { days: anHour, prune: pruneSignInAttempts },
  { days: anHour, prune: pruneTokens },
  { days: anHour, prune: pruneGrants },
  { days: 30, prune: pruneRegistered },
  // A page that was left open asks for its session long after it has ended, and is told so.
  { days: 30, prune: pruneSessions },
  { days: anHour, prune: pruneRateWindows },
  { days: anHour, prune: pruneWebhookSecrets },
  { days: 30, prune: pruneConnections },
  { days: 14, prune: pruneGivenUpJobs },
  { days: anHour, prune: pruneReservations },
];
