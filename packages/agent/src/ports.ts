import type { Stop } from './budget.ts';
import type { InteractionDraft } from './interaction.ts';
import type { ToolCall, ToolMedia } from './message.ts';
import type { Model, ModelFailure, ModelRequest } from './model.ts';
import type { CallResult, ModelStep, NoteStep, Step, SummaryStep, WaitPurpose } from './step.ts';
import type { Tool } from './tool.ts';

/** All that a run needs of its host. */
export type Ports = {
  model: Model;
  store: RunStore;
  tools: ToolRunner;
  budget: Budget;
  hook: PolicyHook;
  /** What is in a picture that a tool answered with; null where its file was deleted. */
  readMedia: (media: ToolMedia) => Promise<Uint8Array | null>;
  clock: Clock;
  /** A new id for a call, unique for ever. */
  newCallId: () => string;
  /** True once the process is about to end: the run gives itself back before its next step. */
  isLeaving: () => boolean;
};

/**
 * Where a run is recorded. Every write is one transaction, is durable when it returns, and is fenced: once another
 * process owns the run, it changes nothing and throws. The loop catches nothing that the store throws.
 *
 * A write that carries an `end` records it in the same transaction, so that a run whose last step is recorded has
 * also ended.
 */
export type RunStore = {
  /**
   * What is recorded so far. Answers `take_up_anew` where the run as it was put together is out of date, such as by an
   * answer that brought it other tools: nothing more may be done with the old ones.
   */
  load: () => Promise<Recorded | TakeUpAnew>;

  /** What was said to the run since it was last asked, oldest first. Each is given once, and is among the steps from then on. */
  takeNotes: () => Promise<readonly NoteStep[]>;

  /** An answer of the model, charged in the same transaction. Calls refused outright come with their result. */
  recordModelStep: (step: ModelStep, end: FinalEnd | null) => Promise<void>;

  /** A summary that the model wrote, charged in the same transaction. */
  recordSummary: (step: SummaryStep) => Promise<void>;

  /** Comes before the tool is touched: whoever finds a start without a result knows that the tool may have acted. */
  recordStart: (callId: string) => Promise<void>;

  /** The tool goes on with the call by itself, also after a crash: whoever takes the run up asks it for what came of it. */
  recordUnderWay: (callId: string, handle: unknown) => Promise<void>;

  recordResult: (callId: string, result: CallResult, end: FinalEnd | null) => Promise<void>;

  /**
   * Makes the interactions and ends the run as waiting, all or nothing. A call whose start is recorded counts as not
   * started again: its runner vouches that nothing happened.
   *
   * With no new wait it ends the run as waiting on those that are open. Answers `answered`, and lets the run go on,
   * where one of those was settled since the last `load`: that answer started no new run, because this one was there.
   */
  wait: (waits: readonly NewWait[]) => Promise<'waiting' | 'answered'>;

  /** An end that comes with no step. `failure`: the model call that failed, if one did; the trace shows it. */
  recordEnd: (end: FinalEnd, failure: ModelFailure | null) => Promise<void>;

  /**
   * Text of the step with this index as it is written. It may be joined with what follows before it is stored. A
   * successor that asks the model again appends under the same index: what stood there before was of no use. An answer
   * that goes on with one that was cut off appends under that one's index.
   */
  appendText: (stepIndex: number, text: string) => Promise<void>;
};

/** `activeMs`: for how long processes have worked on the run, without its waits. */
export type Recorded = { kind: 'recorded'; steps: readonly Step[]; activeMs: number };

/** The host puts the run together again and starts it anew; it goes on from the recorded steps. */
export type TakeUpAnew = { kind: 'take_up_anew' };

/** `kept`: what the call goes on with once there is an answer; whoever is asked is not shown it. */
export type NewWait = { callId: string; purpose: WaitPurpose; draft: InteractionDraft; kept?: unknown };

export type RunEnd =
  | FinalEnd
  /** For answers; `wait` has recorded it. */
  | { kind: 'waiting' }
  /** The process leaves, and another goes on from the recorded steps. Nothing is recorded of it. */
  | { kind: 'handed_back' }
  | TakeUpAnew;

/** The end of the work itself, which is recorded. */
export type FinalEnd =
  /** `isCut`: the model ran into its limit of length, and the text ends there. */
  | { kind: 'answered'; text: string; data: unknown; isCut: boolean }
  /** A task goes on with `call`. `acknowledgement` is what the user is told. */
  | { kind: 'handed_off'; acknowledgement: string; call: ToolCall }
  | ({ kind: 'stopped' } & Stop)
  | { kind: 'failed'; code: 'model_error'; message: string };

/** Runs tools. It is asked only for calls that are valid, allowed and, where a yes is needed, approved. */
export type ToolRunner = {
  /** Whether the arguments fit the tool's schema. The message is for the model: what is wrong and where. */
  validate: (call: ToolCall, tool: Tool) => Promise<{ kind: 'ok' } | { kind: 'error'; message: string }>;

  /**
   * Faults of the tool are results with `isError`. It answers `connect` only while nothing has happened yet, where
   * the user must first connect an app; the call is run again once that is done. It answers `input` where the tool has
   * asked the person something and vouches that it has done nothing yet; it is run again, with `isAnswered`. It answers `under_way` where
   * the tool goes on by itself; it is run again after a pause, with that `handle`, and only asks what came of it. It throws when
   * the signal ends it, which is when the run is ended or the call takes too long; one that does not is left behind.
   */
  run: (call: ToolCall, tool: Tool, signal: AbortSignal, of: CallSoFar) => Promise<ToolOutcome>;
};

/** `isAnswered`: the tool has asked the person something before, and there is an answer. `underWay`: its last handle. */
export type CallSoFar = { isAnswered: boolean; underWay: unknown };

export type ToolOutcome =
  | { kind: 'result'; output: string; isError: boolean; media?: readonly ToolMedia[] }
  | { kind: 'connect'; draft: InteractionDraft }
  | { kind: 'input'; draft: InteractionDraft; kept: unknown }
  | { kind: 'under_way'; handle: unknown; askAgainMs: number };

/** Money beyond the run's own limits: caps of the user and the org, and the wallet. */
type Budget = {
  /**
   * Asked before every call of a model, with the request that it is to pay for, and with null before tool calls. Money
   * that other calls hold is waited for, at most `msLeft`: a refusal means that it is spent, or that the time is up.
   * Null in the answer where the run is no task, or no turn.
   */
  mayContinue: (
    request: ModelRequest | null,
    of: { msLeft: number },
  ) => Promise<{ kind: 'allowed'; taskUsd: number | null; turnUsd: number | null } | { kind: 'refused'; stop: Stop }>;
};

/** The operator's say before each call that may change something. No answer in time is a no. */
type PolicyHook = {
  mayRun: (call: ToolCall, tool: Tool) => Promise<{ kind: 'allowed' } | { kind: 'blocked'; message: string | null }>;
};

type Clock = {
  /** Milliseconds since 1970, UTC. */
  now: () => number;
  /** Rings once after so many milliseconds, unless it is put off by what is returned. */
  alarm: (ms: number, ring: () => void) => () => void;
};
