import type { Api } from '@vestra/contract/api';
import type { AnswerOf } from '@vestra/contract/call';

/** What the service shows, each as its own route answers it. */
export type Conversation = AnswerOf<Api['conversations']['get']>;
export type Turn = AnswerOf<Api['conversations']['send']>;
export type Task = AnswerOf<Api['tasks']['get']>;
export type Interaction = AnswerOf<Api['interactions']['get']>;
export type StoredFile = AnswerOf<Api['files']['list']>['data'][number];
export type TestRun = AnswerOf<Api['testRuns']['get']>;
