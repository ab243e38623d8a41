import type { ApplyProgress } from '@vestra/sdk/apply';
import type { TestProgress } from '@vestra/sdk/commands/test';

/** Progress of applying a folder and running its tests. */
export type WorkEvent = ApplyProgress | TestProgress;
