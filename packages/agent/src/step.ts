import type { Reasoning, ToolCall, ToolMedia } from './message.ts';
import type { Usage } from './model.ts';

/** What has been recorded of a run, oldest first: the trace that people read and the point from which a successor goes on. */
export type Step = ModelStep | SummaryStep | NoteStep;

export type ModelStep = {
  kind: 'model';
  text: string;
  calls: readonly RecordedCall[];
  reasoning: Reasoning | null;
  /** What the run tells the model about this answer, such as that it fits no schema. An answer with a notice is no end. */
  notice: string | null;
  /** The answer ran into the model's limit of length. */
  isCut: boolean;
  usage: Usage;
};

/** Stands for the first `covers` exchanges of the run, counted from the start of its history. */
export type SummaryStep = { kind: 'summary'; text: string; covers: number; usage: Usage };

/** What the person said to work that was under way. */
export type NoteStep = { kind: 'note'; text: string };

/** Facts, not a state: what happens next with a call is read off them. */
export type RecordedCall = {
  /** The id is the run's own. What the model wrote as an id is not kept, so that it can point at no other call. */
  call: ToolCall;
  waits: readonly Wait[];
  isStarted: boolean;
  /** What its tool is asked for it by, where the tool goes on with it by itself; absent: it does not. */
  underWay?: unknown;
  result: CallResult | null;
};

/** `from` decides how the model reads it: what a tool says is data, what a person or the run says is not. */
export type CallResult = {
  output: string;
  isError: boolean;
  from: 'tool' | 'person' | 'run';
  media?: readonly ToolMedia[] | undefined;
};

/**
 * `permission`: may the tool run. `connection`: it runs once an app is connected. `input`: it has asked the person something
 * and runs again with the answer, also where that is a no. `answer`: the outcome is the result.
 */
export type WaitPurpose = 'permission' | 'connection' | 'input' | 'answer';

/** `isOfOrg`: the org says yes or no, and not the person. */
export type Wait = { purpose: WaitPurpose; outcome: WaitOutcome | null; isOfOrg?: boolean };

export type WaitOutcome =
  | { decision: 'approved' }
  | { decision: 'answered'; output: string; isError: boolean }
  | { decision: 'denied' | 'cancelled' | 'expired'; message: string | null };
