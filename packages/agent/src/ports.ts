import type { Stop } from './budget.ts';
import type { InteractionDraft } from './interaction.ts';
import type { ToolCall, ToolMedia } from './message.ts';
import type { Model, ModelFailure, ModelRequest, ModelWarning } from './model.ts';
import type { CallResult, CitablePassage, ModelStep, NoteStep, Step, SummaryStep, WaitPurpose } from './step.ts';
import type { Tool } from './tool.ts';

/** Everything that a run needs from its host. */
export type Ports = {
  model: Model;
  store: RunStore;
  tools: ToolRunner;
  budget: Budget;
  hook: PolicyHook;
  /** Reads a picture returned by a tool; null if its file was deleted. */
  readMedia: (media: ToolMedia) => Promise<Uint8Array | null>;
  clock: Clock;
  /** Returns a new, globally unique id for a call. */
  newCallId: () => string;
  /** True once the process shuts down. The run then hands itself back before its next step. */
  isLeaving: () => boolean;
  /** Records a tool that the model was not offered. Called for each model request. */
  warn?: (warning: ModelWarning) => Promise<void>;
};

/**
 * Records a run. Every write is one transaction, durable when it returns, and fenced: if another process owns the run,
 * the write changes nothing and throws. The loop catches no error of the store.
 * A write with an `end` records it in the same transaction, so a run whose last step is recorded has also ended.
 */
export type RunStore = {
  /**
   * Returns the recorded steps. Returns `take_up_anew` if the run is out of date, for example because an answer added
   * tools. Nothing may be done with the old tools then.
   */
  load: () => Promise<Recorded | AssembleAgain>;

  /**
   * Returns the messages sent to the run since the last call, oldest first. Each is returned once and is part of the
   * steps afterwards.
   */
  takeNotes: () => Promise<readonly NoteStep[]>;

  /**
   * Records an answer of the model and charges it in the same transaction. Calls that were rejected come with their
   * result.
   */
  recordModelStep: (step: ModelStep, end: FinalEnd | null) => Promise<void>;

  /** Records a summary by the model and charges it in the same transaction. */
  recordSummary: (step: SummaryStep) => Promise<void>;

  /** Called before the tool runs. A start without a result means that the tool may have acted. */
  recordStart: (callId: string) => Promise<void>;

  /** The call continues in its tool, also after a crash. The next owner of the run asks the tool for the result. */
  recordUnderWay: (callId: string, handle: unknown) => Promise<void>;

  recordResult: (callId: string, result: CallResult, end: FinalEnd | null) => Promise<void>;

  /**
   * Creates the interactions and ends the run as waiting, atomically. A call with a recorded start counts as not
   * started again, because its runner guarantees that nothing happened.
   * Without new waits, the run ends as waiting on the pending ones. It returns `answered`, and the run continues, if
   * one of them was settled since the last `load`. That answer started no new run, because this one was active.
   */
  wait: (waits: readonly NewWait[]) => Promise<'waiting' | 'answered'>;

  /** Records an end that belongs to no step. `failure` is the failed model call, if any. The trace shows it. */
  recordEnd: (end: FinalEnd, failure: ModelFailure | null) => Promise<void>;

  /**
   * Appends streamed text to the step with this index. The store may join several texts before it writes them. A
   * successor that asks the model again writes under the same index and discards the earlier text. A continuation of a
   * cut answer appends under the index of that answer.
   */
  appendText: (stepIndex: number, text: string) => Promise<void>;
};

/** `activeMs`: how long processes have worked on the run, without waiting times. */
export type Recorded = { kind: 'recorded'; steps: readonly Step[]; activeMs: number };

/** The host builds the run again and restarts it from the recorded steps. */
export type AssembleAgain = { kind: 'take_up_anew' };

/** `kept`: state that the call resumes with after the answer. It is not shown to the person. */
export type NewWait = { callId: string; purpose: WaitPurpose; draft: InteractionDraft; kept?: unknown };

export type RunEnd =
  | FinalEnd
  /** Waits for answers. `wait` has recorded it. */
  | { kind: 'waiting' }
  /** The process shuts down and another one resumes from the recorded steps. Nothing is recorded. */
  | { kind: 'handed_back' }
  | AssembleAgain;

/** The recorded end of the run. */
export type FinalEnd =
  /** `isCut`: the model reached its length limit, and the text ends there. */
  | { kind: 'answered'; text: string; data: unknown; isCut: boolean }
  /** A task continues with `call`. `acknowledgement` is shown to the user. */
  | { kind: 'handed_off'; acknowledgement: string; call: ToolCall }
  | ({ kind: 'stopped' } & Stop)
  | { kind: 'failed'; code: 'model_error'; message: string };

/** Runs tools. It receives only calls that are valid, allowed and, if necessary, approved. */
export type ToolRunner = {
  /**
   * Validates the arguments against the tool's schema. The message is for the model and names each fault and its place.
   */
  validate: (call: ToolCall, tool: Tool) => Promise<{ kind: 'ok' } | { kind: 'error'; message: string }>;

  /**
   * Runs a call. Faults of the tool are results with `isError`.
   * It returns `connect` only before anything happened, if the user must first connect an app. The call runs again
   * afterwards.
   * It returns `input` if the tool asked the person something and guarantees that it has done nothing yet. The call
   * runs again with `isAnswered`.
   * It returns `under_way` if the tool continues by itself. After a pause it is called again with that `handle` and
   * only fetches the result.
   * It throws when the signal aborts, which happens if the run ends or the call takes too long. A runner that ignores
   * the signal is abandoned.
   */
  run: (call: ToolCall, tool: Tool, signal: AbortSignal, of: CallSoFar) => Promise<ToolOutcome>;
};

/** `isAnswered`: the tool asked the person something earlier and has an answer. `underWay`: its last handle. */
export type CallSoFar = { isAnswered: boolean; underWay: unknown };

export type ToolOutcome =
  | {
      kind: 'result';
      output: string;
      isError: boolean;
      media?: readonly ToolMedia[];
      sources?: readonly string[];
      passages?: readonly CitablePassage[];
    }
  | { kind: 'connect'; draft: InteractionDraft }
  | { kind: 'input'; draft: InteractionDraft; kept: unknown }
  | { kind: 'under_way'; handle: unknown; askAgainMs: number };

/** Money beyond the run's own limits: caps of the user and the org, and the wallet. */
type Budget = {
  /**
   * Called before every model call with the request to pay for, and with null before tool calls. It waits up to
   * `msLeft` for money that other calls hold. A refusal means that the money is spent or the time is up. The amounts
   * are null if the run is not a task, or not a turn.
   */
  mayContinue: (
    request: ModelRequest | null,
    of: { msLeft: number },
  ) => Promise<{ kind: 'allowed'; taskUsd: number | null; turnUsd: number | null } | { kind: 'refused'; stop: Stop }>;
};

/** The operator's hook before each call that may change something. No answer in time counts as a refusal. */
type PolicyHook = {
  mayRun: (call: ToolCall, tool: Tool) => Promise<{ kind: 'allowed' } | { kind: 'blocked'; message: string | null }>;
};

type Clock = {
  /** Milliseconds since 1970, UTC. */
  now: () => number;
  /** Rings once after so many milliseconds. The returned function cancels it. */
  alarm: (ms: number, ring: () => void) => () => void;
};
