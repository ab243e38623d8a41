import type { Reasoning, ToolCall, ToolMedia } from './message.ts';
import type { Usage } from './model.ts';

/** A recorded step. The steps, oldest first, are both the trace that people read and the checkpoint for a successor. */
export type Step = ModelStep | SummaryStep | NoteStep;

export type ModelStep = {
  kind: 'model';
  text: string;
  calls: readonly RecordedCall[];
  reasoning: Reasoning | null;
  /**
   * The run's message to the model about this answer, for example that it matches no schema. An answer with a notice
   * does not end the run.
   */
  notice: string | null;
  /** The answer reached the model's length limit. */
  isCut: boolean;
  usage: Usage;
};

/** Replaces the first `covers` exchanges of the run, counted from the start of its history. */
export type SummaryStep = { kind: 'summary'; text: string; covers: number; usage: Usage };

/** A message from the person to a running task. */
export type NoteStep = { kind: 'note'; text: string };

/** Facts, not a state: the next action is derived from them. */
export type RecordedCall = {
  /** The run assigns the id. The model's own id is discarded, so that it cannot refer to another call. */
  call: ToolCall;
  waits: readonly Wait[];
  isStarted: boolean;
  /** The handle for polling the tool, if the call continues there. Default: none. */
  underWay?: unknown;
  result: CallResult | null;
};

/** `from` decides how the model reads the output: a tool's output is data, that of a person or the run is not. */
export type CallResult = {
  output: string;
  isError: boolean;
  from: 'tool' | 'person' | 'run';
  media?: readonly ToolMedia[] | undefined;
  /** The ids of the documents, notebooks and skills that the output shows. */
  sources?: readonly string[] | undefined;
  passages?: readonly CitablePassage[] | undefined;
};

/** A passage that an output shows, and the mark by which a reply cites it. */
export type CitablePassage = {
  mark: number;
  notebookId: string;
  documentId: string;
  /** Null: a part of a document that was read, from the character `from`. */
  position: number | null;
  from?: number;
};

/**
 * `permission`: may the tool run. `connection`: it runs once an app is connected. `input`: it asked the person
 * something and runs again with the answer, even a refusal. `answer`: the outcome is the result.
 */
export type WaitPurpose = 'permission' | 'connection' | 'input' | 'answer';

/** `isOfOrg`: the org decides, not the user. */
export type Wait = { purpose: WaitPurpose; outcome: WaitOutcome | null; isOfOrg?: boolean };

export type WaitOutcome =
  | { decision: 'approved' }
  | { decision: 'answered'; output: string; isError: boolean }
  | { decision: 'denied' | 'cancelled' | 'expired'; message: string | null };
