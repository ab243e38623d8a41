export { actingUser, askedUser, findAskedUser, requireAskedUser, statedUser } from './acting.ts';
export { enterUser } from './enter.ts';
export { enterUsers } from './enter-many.ts';
export { type EraseStep, eraseUser } from './erase.ts';
export { forgetUser, seeUser, userIsStill } from './seen-store.ts';
export { capsOf, findUser, timezoneOf } from './store.ts';
export { type UserRow, users } from './tables.ts';
export { unfinishedErasures } from './unfinished-erasures.ts';
