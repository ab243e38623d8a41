import type { ApprovalCategory } from './approval-category.ts';
import { type Limits, limitReached, timeReached } from './budget.ts';
import { type Move, nextMove } from './call-progress.ts';
import { receiveCall } from './call-refusal.ts';
import { exchangesToCover, summaryRequest } from './compaction.ts';
import { withKeptFacts } from './kept-facts.ts';
import { type Answer, listen } from './listen.ts';
import { withContent } from './media.ts';
import type { JsonSchema, Message, ToolCall } from './message.ts';
import { ModelFailure, type ModelRequest, type Usage } from './model.ts';
import type { FinalEnd, NewWait, Ports, Recorded, RunEnd } from './ports.ts';
import { runInTime } from './run-in-time.ts';
import type { CallResult, ModelStep, RecordedCall, Step } from './step.ts';
import { decisionOf, isReadOnly, type Tool } from './tool.ts';
import { beginningIn, exchangesOf, goOn, lastSummary, messagesOf } from './transcript.ts';

/** One run: a reply of the orchestrator or a task of the worker. They differ in what stands here, not in the loop. */
export type Run = {
  model: string;
  /** How much the model can read at once. */
  contextTokens: number;
  maxOutputTokens?: number;
  system: readonly string[];
  /** What was said before and what is asked now: the same each time the run is taken up. */
  history: readonly Message[];
  tools: readonly Tool[];
  approvals: readonly ApprovalCategory[];
  limits: Limits;
  /** Where the answer must be data. The message of an error is for the model. */
  output: { schema: JsonSchema; read: (text: string) => ReadAnswer } | null;
  /** Random, told to the model in the system text; text of others stands inside it. */
  fence: string;
  /** Ends the run at once by throwing its reason: somebody stopped it, or another process owns it. */
  signal: AbortSignal;
};

type ReadAnswer = { kind: 'ok'; data: unknown } | { kind: 'error'; message: string };

const mostCallsOfAnswer = 32;
const mostNoticesInARow = 3;

/**
 * Runs until there is an end. It may be called again after any crash and goes on from what is recorded: no recorded
 * answer is asked for again, no call with a result is run again.
 */
export async function runAgent(run: Run, ports: Ports): Promise<RunEnd> {
  const recorded = await ports.store.load();
  if (recorded.kind === 'take_up_anew') return recorded;
  const progress = takeUp(run, ports, recorded);
  const putOff = ports.clock.alarm(timeLeft(progress), () => progress.timeUp.abort(new Error('The time is up.')));
  try {
    for (;;) {
      run.signal.throwIfAborted();
      const end = await advance(progress);
      if (end !== null) return end;
    }
  } finally {
    putOff();
  }
}

type Progress = {
  run: Run;
  ports: Ports;
  tools: ReadonlyMap<string, Tool>;
  steps: Step[];
  activeMsBefore: number;
  takenUpAt: number;
  /** Aborted when the run has used up its minutes, in the middle of whatever it does. */
  timeUp: AbortController;
  /** Of what the run does: ended from outside, or out of time. */
  signal: AbortSignal;
};

function takeUp(run: Run, ports: Ports, { steps, activeMs }: Recorded): Progress {
  const timeUp = new AbortController();
  return {
    run,
    ports,
    tools: byName(run.tools),
    steps: [...steps],
    activeMsBefore: activeMs,
    takenUpAt: ports.clock.now(),
    timeUp,
    signal: AbortSignal.any([run.signal, timeUp.signal]),
  };
}

/** Null: there is more to do. */
async function advance(progress: Progress): Promise<RunEnd | null> {
  const last = progress.steps.at(-1);
  if (last?.kind === 'model') {
    const end = endOf(progress, last);
    if (end !== null) return settleRun(progress, end);
  }
  if (progress.ports.isLeaving()) return { kind: 'handed_back' };
  if (last?.kind === 'model' && last.calls.some(isOpen)) return workOffCalls(progress, last);
  return askModel(progress);
}

/** The end that a recorded step means, for a run that was recorded up to it and not further. */
function endOf(progress: Progress, step: ModelStep): FinalEnd | null {
  if (step.calls.length === 0) return step.notice === null ? answered(progress, step) : null;
  const ending = step.calls.find(({ call, result }) => {
    const effect = progress.tools.get(call.name)?.effect.kind;
    return result?.isError === false && (effect === 'finish' || effect === 'hand_off');
  });
  if (ending === undefined) return null;
  const move = nextMove({ ...ending, result: null }, progress.tools.get(ending.call.name), progress.run.approvals);
  return endOfMove(step, ending.call, move);
}

async function askModel(progress: Progress): Promise<RunEnd | null> {
  progress.steps.push(...(await progress.ports.store.takeNotes()));
  const { steps } = progress;
  const covers = coverage(progress, { force: false });
  const request = covers === null ? await requestOf(progress) : requestOfSummary(progress, covers);
  const stop = await stopNow(progress, request);
  const beginning = beginningIn(steps);
  if (stop !== null) return settleRun(progress, beginning ? cutOff(beginning) : stop);
  if (covers !== null) return compact(progress, covers, request);

  // What goes on where a step was cut off is more of that one's text.
  const index = beginning ? steps.indexOf(beginning) : steps.length;
  const answer = await hear(progress, request, (text) => progress.ports.store.appendText(index, text));
  if (!(answer instanceof ModelFailure)) return receive(progress, answer);
  if (beginning) return settleRun(progress, cutOff(beginning), answer.usage);
  if (progress.timeUp.signal.aborted) return settleRun(progress, outOfTime(progress), answer.usage);
  const forced = answer.reason === 'too_long' ? coverage(progress, { force: true }) : null;
  if (forced === null) return settleRun(progress, failed(answer), answer.usage);
  return compact(progress, forced, requestOfSummary(progress, forced));
}

const hear = ({ ports, run, timeUp }: Progress, request: ModelRequest, onText: (text: string) => Promise<void>) =>
  listen(ports.model, request, { onText, ended: run.signal, timeUp: timeUp.signal });

async function receive(progress: Progress, answer: Answer): Promise<RunEnd | null> {
  const { ports, tools } = progress;
  const taken = answer.calls.slice(0, mostCallsOfAnswer);
  const received = await Promise.all(
    taken.map((call) => receiveCall({ ...call, id: ports.newCallId() }, tools.get(call.name), ports.tools.validate)),
  );
  const step: ModelStep = {
    kind: 'model',
    text: answer.text,
    calls: received.map(({ call, result }) => ({ call, waits: [], isStarted: false, result })),
    reasoning: answer.reasoning,
    notice: noticeOf(progress, answer),
    isCut: answer.isCut,
    usage: answer.usage,
  };
  const end = endOf(progress, step) ?? endOfNotices(progress, step);
  await ports.store.recordModelStep(step, end);
  progress.steps.push(step);
  return end;
}

function noticeOf({ run, steps }: Progress, { text, calls, isCut }: Answer): string | null {
  if (calls.length > mostCallsOfAnswer) {
    return `Only the first ${mostCallsOfAnswer} of ${calls.length} calls were taken.`;
  }
  if (calls.length > 0) return null;
  const read = run.output?.read(text);
  if (read?.kind === 'error') {
    const why = isCut ? 'The answer was cut off: it ran into the limit of length.' : read.message;
    return `The answer does not fit the schema. ${why} Answer again, ${isCut ? 'shorter and ' : ''}with JSON alone.`;
  }
  if (text.trim() === '') return 'The answer was empty. Answer the user, or call a tool.';
  return isCut && beginningIn(steps) === null && run.output === null ? goOn : null;
}

function endOfNotices({ steps }: Progress, step: ModelStep): FinalEnd | null {
  const noticed = (each: Step) => each.kind === 'model' && each.notice !== null && each.calls.length === 0;
  if (!noticed(step)) return null;
  const before = steps.slice(-(mostNoticesInARow - 1));
  if (before.length < mostNoticesInARow - 1 || !before.every(noticed)) return null;
  return {
    kind: 'failed',
    code: 'model_error',
    message: `The model gave no usable answer ${mostNoticesInARow} times.`,
  };
}

/** All calls of the step at once where none can change anything, otherwise the first that is open. */
async function workOffCalls(progress: Progress, step: ModelStep): Promise<RunEnd | null> {
  const open = step.calls.filter(isOpen);
  const batch = runSideBySide(progress, step.calls) ? open : open.slice(0, 1);
  const moves = batch.map((recorded) => ({
    call: recorded.call,
    move: nextMove(recorded, progress.tools.get(recorded.call.name), progress.run.approvals),
  }));
  if (moves.some(({ move }) => move.kind === 'run' || move.kind === 'ask')) {
    const stop = await stopNow(progress, null);
    if (stop !== null) return settleRun(progress, stop);
  }

  const outcomes = await allOf(moves.map(({ call, move }) => perform(progress, step, call, move)));
  const ended = outcomes.find((outcome) => outcome.kind === 'ended');
  if (ended) return ended.end;
  if (outcomes.every(({ kind }) => kind === 'settled')) return null;
  return waitFor(
    progress,
    outcomes.flatMap((outcome) => (outcome.kind === 'waits' ? outcome.opened : [])),
  );
}

function runSideBySide({ tools }: Progress, calls: readonly RecordedCall[]): boolean {
  return calls.every(({ call, result }) => {
    const tool = tools.get(call.name);
    if (tool === undefined) return result !== null;
    return isReadOnly(tool) && (tool.effect.kind === 'run' || tool.effect.kind === 'ask');
  });
}

type Outcome = { kind: 'settled' } | { kind: 'waits'; opened: NewWait[] } | { kind: 'ended'; end: RunEnd };

async function perform(progress: Progress, step: ModelStep, call: ToolCall, move: Move): Promise<Outcome> {
  switch (move.kind) {
    case 'stand_by':
      return { kind: 'waits', opened: [] };
    case 'settle':
      return settleCall(progress, call, move.result);
    case 'ask': {
      const blocked = move.purpose === 'answer' ? await blockedBy(progress, call) : null;
      if (blocked !== null) return { kind: 'ended', end: await settleRun(progress, blocked) };
      return { kind: 'waits', opened: [{ callId: call.id, purpose: move.purpose, draft: move.draft }] };
    }
    case 'run':
      return runTool(progress, call, move);
    case 'hand_off':
    case 'finish': {
      const end = endOfMove(step, call, move);
      await progress.ports.store.recordResult(call.id, { output: 'Done.', isError: false, from: 'run' }, end);
      return end === null ? { kind: 'settled' } : { kind: 'ended', end };
    }
  }
}

function endOfMove(step: ModelStep, call: ToolCall, move: Move): FinalEnd | null {
  if (move.kind === 'finish') return { kind: 'answered', text: move.text, data: move.data, isCut: false };
  if (move.kind === 'hand_off') return { kind: 'handed_off', acknowledgement: step.text, call };
  return null;
}

async function runTool(
  progress: Progress,
  call: ToolCall,
  { tool, isAnswered }: Extract<Move, { kind: 'run' }>,
): Promise<Outcome> {
  const blocked = await blockedBy(progress, call);
  if (blocked !== null) return { kind: 'ended', end: await settleRun(progress, blocked) };
  await progress.ports.store.recordStart(call.id);
  const { run, ports, signal } = progress;
  const outcome = await runInTime(ports, call, tool, { ended: run.signal, signal, isAnswered });
  if (outcome.kind === 'connect') {
    return { kind: 'waits', opened: [{ callId: call.id, purpose: 'connection', draft: outcome.draft }] };
  }
  if (outcome.kind === 'input') {
    const { draft, kept } = outcome;
    return { kind: 'waits', opened: [{ callId: call.id, purpose: 'input', draft, kept }] };
  }
  const { output, isError, isTools, media } = outcome;
  return settleCall(progress, call, { output, isError, from: isTools ? 'tool' : 'run', ...(media && { media }) });
}

async function blockedBy({ ports, tools }: Progress, call: ToolCall): Promise<FinalEnd | null> {
  const tool = tools.get(call.name);
  if (tool === undefined || isReadOnly(tool)) return null;
  const answer = await ports.hook.mayRun(call, tool);
  return answer.kind === 'allowed' ? null : { kind: 'stopped', reason: 'hook_blocked', message: answer.message };
}

async function settleCall(progress: Progress, call: ToolCall, result: CallResult): Promise<Outcome> {
  await progress.ports.store.recordResult(call.id, result, null);
  progress.steps = progress.steps.map((step) => (step.kind === 'model' ? withResult(step, call.id, result) : step));
  return { kind: 'settled' };
}

function withResult(step: ModelStep, callId: string, result: CallResult): ModelStep {
  return { ...step, calls: step.calls.map((each) => (each.call.id === callId ? { ...each, result } : each)) };
}

async function waitFor(progress: Progress, opened: readonly NewWait[]): Promise<RunEnd | null> {
  if ((await progress.ports.store.wait(opened)) === 'waiting') return { kind: 'waiting' };
  const recorded = await progress.ports.store.load();
  if (recorded.kind === 'take_up_anew') return recorded;
  progress.steps = [...recorded.steps];
  return null;
}

async function compact(progress: Progress, covers: number, request: ModelRequest): Promise<RunEnd | null> {
  const { run, ports, steps } = progress;
  const answer = await hear(progress, request, async () => {});
  if (answer instanceof ModelFailure && progress.timeUp.signal.aborted) {
    return settleRun(progress, outOfTime(progress), answer.usage);
  }
  if (answer instanceof ModelFailure) return settleRun(progress, failed(answer), answer.usage);
  const before = lastSummary(steps);
  const told = exchangesOf({ ...run, steps }).slice(before?.covers ?? 0, covers);
  const text = withKeptFacts(
    answer.text,
    told.flatMap(({ messages }) => messages),
    before?.text ?? null,
  );
  const step: Step = { kind: 'summary', text, covers, usage: answer.usage };
  await ports.store.recordSummary(step);
  steps.push(step);
  return null;
}

function requestOfSummary({ run, steps, signal }: Progress, covers: number): ModelRequest {
  const before = lastSummary(steps);
  return summaryRequest({
    model: run.model,
    exchanges: exchangesOf({ ...run, steps }),
    covered: before?.covers ?? 0,
    covers,
    summary: before?.text ?? null,
    fence: run.fence,
    ...(run.maxOutputTokens !== undefined && { maxOutputTokens: run.maxOutputTokens }),
    signal,
  });
}

function coverage({ run, steps }: Progress, options: { force: boolean }): number | null {
  const transcript = { ...run, steps };
  return exchangesToCover(
    {
      contextTokens: run.contextTokens - (run.maxOutputTokens ?? 0),
      system: run.system,
      tools: offered(run),
      messages: messagesOf(transcript),
      exchanges: exchangesOf(transcript),
      covered: lastSummary(steps)?.covers ?? 0,
    },
    options,
  );
}

async function requestOf({ run, ports, steps, signal }: Progress): Promise<ModelRequest> {
  return {
    model: run.model,
    system: run.system,
    messages: await withContent(messagesOf({ ...run, steps }), ports.readMedia),
    tools: offered(run),
    ...(run.output === null ? {} : { outputSchema: run.output.schema }),
    ...(run.maxOutputTokens === undefined ? {} : { maxOutputTokens: run.maxOutputTokens }),
    signal,
  };
}

const offered = (run: Run) => run.tools.filter((tool) => decisionOf(tool) !== 'refuse').map((tool) => tool.definition);

/** `request`: the call of the model that comes next, for which money is held; null before tools. */
async function stopNow(progress: Progress, request: ModelRequest | null): Promise<FinalEnd | null> {
  const { run, ports, steps } = progress;
  const msLeft = Math.max(0, run.limits.max_minutes * 60_000 - activeMs(progress));
  const allowance = await ports.budget.mayContinue(request, { msLeft });
  if (allowance.kind === 'refused') return { kind: 'stopped', ...allowance.stop };
  const { taskUsd, turnUsd } = allowance;
  const stop = limitReached(run.limits, { steps: steps.length, activeMs: activeMs(progress), taskUsd, turnUsd });
  return stop === null ? null : { kind: 'stopped', ...stop };
}

const outOfTime = ({ run }: Progress): FinalEnd => ({ kind: 'stopped', ...timeReached(run.limits) });

/** An alarm and a clock may differ by a moment: where the one has rung, the time is up. */
const activeMs = ({ ports, activeMsBefore, takenUpAt, timeUp }: Progress) =>
  timeUp.signal.aborted ? Number.POSITIVE_INFINITY : activeMsBefore + ports.clock.now() - takenUpAt;

const timeLeft = ({ run, activeMsBefore }: Progress) => Math.max(0, run.limits.max_minutes * 60_000 - activeMsBefore);

async function settleRun({ ports }: Progress, end: FinalEnd, usage: Usage | null = null): Promise<FinalEnd> {
  await ports.store.recordEnd(end, usage);
  return end;
}

function answered({ run, steps }: Progress, step: ModelStep): FinalEnd {
  const { text, isCut } = step;
  const read = run.output?.read(text);
  const beginning = beginningIn(steps.slice(0, steps.includes(step) ? steps.indexOf(step) : undefined));
  return {
    kind: 'answered',
    text: (beginning?.text ?? '') + text,
    data: read?.kind === 'ok' ? read.data : null,
    isCut,
  };
}

/** Where no more of it can be had, what was said stands, marked: it is better than nothing. */
const cutOff = ({ text }: ModelStep): FinalEnd => ({ kind: 'answered', text, data: null, isCut: true });

const failed = (failure: ModelFailure): FinalEnd => ({ kind: 'failed', code: 'model_error', message: failure.message });

const isOpen = ({ result }: RecordedCall) => result === null;

/** Waits for all before it throws, so that nothing goes on behind a run that has ended. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Two tools of one name would share a policy that belongs to one of them. */
function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const map = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (map.size < tools.length) throw new Error('Two tools of this run have the same name.');
  return map;
}
