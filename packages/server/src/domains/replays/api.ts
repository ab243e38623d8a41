export { eraseReplaysOf } from './erase.ts';
export { playReplay, unfinishedReplays } from './play.ts';
