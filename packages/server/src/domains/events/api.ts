export { appendDelta } from './append-delta.ts';
export { type NewLogEntry, nextEntries } from './append-log.ts';
export { emit, emitToNobody } from './emit.ts';
export { createFollowers, type Followers, type LogEntry, readLog } from './followers.ts';
export { holdConversation } from './hold-conversation.ts';
export { presentEvent } from './present.ts';
export { pruneEvents } from './prune-events.ts';
export { pruneStreams } from './prune-streams.ts';
export { findEvent } from './store.ts';
