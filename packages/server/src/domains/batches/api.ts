export { advanceBatch, advanceOwnAgent } from './advance.ts';
export { createAdvancer } from './advancer.ts';
export { itemEraser } from './erase.ts';
export { unfinishedBatches } from './sweep.ts';
export { watchItems } from './watch-items.ts';
