export { actingUser, askedUser, findAskedUser, requireAskedUser, statedUser } from './acting-user.ts';
export { memoryEndpointSecret } from './memory/customer-memory.ts';
export { isInWordsOf } from './memory/extract-facts.ts';
export type { Memory } from './memory/memory.ts';
export { DeletedMeanwhile } from './memory/stored-facts.ts';
export { capsOf, findUser, forgetUser, seeUser, timezoneOf, userIsStill } from './store.ts';
export type { UserRow } from './tables.ts';
export { enterUser, enterUsers } from './users.ts';
