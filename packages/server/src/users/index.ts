export { currentMemorySecret, memorySecretsToMove } from './memory/customer-memory.ts';
export { isInWordsOf } from './memory/extract-facts.ts';
export type { Memory } from './memory/memory.ts';
export { DeletedMeanwhile } from './memory/stored-facts.ts';
export { capsOf, findCachedUser, findUser, forgetCachedUser, isUnchangedUser, timezoneOf, userOfRow } from './store.ts';
export type { UserRow } from './tables.ts';
export {
  actingUser,
  enterUser,
  enterUsers,
  findRequestedUser,
  requestedUserId,
  requireRequestedUser,
  statedUserId,
} from './users.ts';
