import type { ApplyProgress } from '@vestra/sdk/apply';
import type { TestProgress } from '@vestra/sdk/commands/test';

/** What happens while a folder is applied and its tests are played. */
export type WorkEvent = ApplyProgress | TestProgress;
