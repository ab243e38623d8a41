import type { Model } from '@vestra/agent/model';
export function createOfflineModel(): Model {
  throw new Error('x');
}
