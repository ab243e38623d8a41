export { type EraseStep, eraseUser } from './erase.ts';
export { makeUser } from './make.ts';
export { capsOf, findUser } from './store.ts';
export { unfinishedErasures } from './unfinished-erasures.ts';
