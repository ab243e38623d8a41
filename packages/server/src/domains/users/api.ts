export { actingUser } from './acting.ts';
export { enterUser } from './enter.ts';
export { type EraseStep, eraseUser } from './erase.ts';
export { capsOf, timezoneOf } from './store.ts';
export { unfinishedErasures } from './unfinished-erasures.ts';
