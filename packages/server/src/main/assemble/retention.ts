import type { FileStore } from '../../adapters/files/file-store.ts';
import { pruneConnections } from '../../domains/apps/api.ts';
import { pruneAudit } from '../../domains/audit/api.ts';
import { pruneStreams } from '../../domains/engine/records/prune-streams.ts';
import { pruneTraces } from '../../domains/engine/records/prune-traces.ts';
import { pruneEvents } from '../../domains/events/api.ts';
import { pruneOfTools, pruneUnused } from '../../domains/files/api.ts';
import { pruneReservations } from '../../domains/ledger/api.ts';
import { pruneGrants, pruneRegistered, pruneTokens } from '../../domains/mcp-grants/api.ts';
import { pruneConsoleSessions, prunePasswordResets, pruneSignInAttempts } from '../../domains/members/api.ts';
import { pruneSessions } from '../../domains/sessions/api.ts';
import { pruneDeliveries, pruneWebhookSecrets } from '../../domains/webhooks/api.ts';
import { pruneAnswers } from '../../http/idempotency.ts';
import { pruneRateWindows } from '../../http/rate-limit.ts';
import { pruneGivenUpJobs } from '../../jobs/queue.ts';
import type { PruneRule } from '../../jobs/retention.ts';
import type { Config } from '../config.ts';

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
