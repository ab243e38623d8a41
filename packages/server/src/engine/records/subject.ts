import type { TaskRow, TurnRow } from './tables.ts';

/** What a run is about: the reply of a turn or, where there is a task, the work on it. */
export type Subject = { turn: TurnRow; task: TaskRow | null };
