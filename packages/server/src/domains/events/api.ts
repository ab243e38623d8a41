export { appendDelta } from './append-delta.ts';
export { type NewLogEntry, nextEntries } from './append-log.ts';
export { emit, emitToNobody, emitting, type OrgEvent } from './emit.ts';
export { emitAll, emittingAll } from './emit-all.ts';
export { createFollowers, type Followers } from './followers.ts';
export { type LogEntry, readLog } from './log-store.ts';
export { presentEvent } from './present.ts';
export { eraseEvents, eraseEventsOf, findEvent, pruneEvents } from './store.ts';
