export { recordAudit } from './audit/audit-log.ts';
export { type LogEntry, type NewLogEntry, nextLogEntries, readLog } from './events/conversation-log.ts';
export { emit, emitAll, emitAllStatement, emitStatement, emitWithoutDeliveries, type OrgEvent } from './events/emit.ts';
export { eraseEvents, findEvent, presentEvent } from './events/events.ts';
export type { Followers } from './events/followers.ts';
export type { AppendDelta } from './events/reply-deltas.ts';
export {
  conversationRetentions,
  defaultDeploymentOfRow,
  findOrg,
  findSettings,
  lockSettings,
  updateSettings,
} from './orgs/store.ts';
export { openOwned, readSecrets, sealOwned, storedSecretNames } from './secrets/secrets.ts';
export type { OrgSettings } from './tables.ts';
export type { ModelCallSpan, RunTrace, TraceParent } from './telemetry/run-trace.ts';
