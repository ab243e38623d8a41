import type { ApplyProgress } from '@vestra/sdk/apply';
import type { TestEvent } from './follow-tests.ts';

/** What happens while a folder is applied and its tests are played. */
export type WorkEvent = ApplyProgress | TestEvent;
