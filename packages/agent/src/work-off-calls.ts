import { type Move, nextMove } from './call-progress.ts';
import type { ToolCall } from './message.ts';
import type { CallSoFar, FinalEnd, NewWait, Ports, RunEnd, ToolOutcome } from './ports.ts';
import { endRun, type Progress, stopNow } from './progress.ts';
import type { CallResult, ModelStep, RecordedCall } from './step.ts';
import { isReadOnly, type Tool } from './tool.ts';

/** A run that waits for a tool delays a shutdown by at most this time. */
const longestPauseMs = 1_000;

export const isOpen = ({ result }: RecordedCall) => result === null;

/** Runs all calls of the step in parallel if none can change anything, otherwise the first pending one. */
export async function workOffCalls(progress: Progress, step: ModelStep): Promise<RunEnd | null> {
  const open = step.calls.filter(isOpen);
  const batch = runSideBySide(progress, step.calls) ? open : open.slice(0, 1);
  const moves = batch.map((recorded) => ({
    call: recorded.call,
    move: nextMove(recorded, progress.tools.get(recorded.call.name), progress.run.approvals),
  }));
  if (moves.some(({ move }) => move.kind === 'run' || move.kind === 'ask')) {
    const stop = await stopNow(progress, null);
    if (stop !== null) return endRun(progress, stop);
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
    case 'result':
      return recordResultOf(progress, call, move.result);
    case 'ask': {
      const blocked = move.purpose === 'answer' ? await blockedBy(progress, call) : null;
      if (blocked !== null) return { kind: 'ended', end: await endRun(progress, blocked) };
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

/** Returns the end that a move implies, or null. */
export function endOfMove(step: ModelStep, call: ToolCall, move: Move): FinalEnd | null {
  if (move.kind === 'finish') return { kind: 'answered', text: move.text, data: move.data, isCut: false };
  if (move.kind === 'hand_off') return { kind: 'handed_off', acknowledgement: step.text, call };
  return null;
}

async function runTool(
  progress: Progress,
  call: ToolCall,
  { tool, isAnswered, underWay }: Extract<Move, { kind: 'run' }>,
): Promise<Outcome> {
  // A call that is under way was approved before and is only polled.
  if (underWay === undefined) {
    const blocked = await blockedBy(progress, call);
    if (blocked !== null) return { kind: 'ended', end: await endRun(progress, blocked) };
    await progress.ports.store.recordStart(call.id);
  }
  const { run, ports, signal } = progress;
  const outcome = await runInTime(ports, call, tool, { ended: run.signal, signal, soFar: { isAnswered, underWay } });
  if (outcome.kind === 'connect') {
    return { kind: 'waits', opened: [{ callId: call.id, purpose: 'connection', draft: outcome.draft }] };
  }
  if (outcome.kind === 'input') {
    const { draft, kept } = outcome;
    return { kind: 'waits', opened: [{ callId: call.id, purpose: 'input', draft, kept }] };
  }
  if (outcome.kind === 'under_way') {
    await noteUnderWay(progress, call, underWay, outcome.handle);
    await pause(progress, outcome.askAgainMs);
    return { kind: 'settled' };
  }
  const { output, isError, isTools, media, sources, passages } = outcome;
  const from = isTools ? 'tool' : 'run';
  return recordResultOf(progress, call, {
    output,
    isError,
    from,
    ...(media && { media }),
    ...(sources && { sources }),
    ...(passages && { passages }),
  });
}

/** An unchanged handle is not written again, because it may be polled every second. */
async function noteUnderWay(progress: Progress, call: ToolCall, before: unknown, underWay: unknown): Promise<void> {
  if (JSON.stringify(before) === JSON.stringify(underWay)) return;
  await progress.ports.store.recordUnderWay(call.id, underWay);
  progress.steps = progress.steps.map((step) => (step.kind === 'model' ? withCall(step, call.id, { underWay }) : step));
}

/** Waits until the time has passed, the process shuts down, or the run is over. */
async function pause({ ports, run, signal }: Progress, ms: number): Promise<void> {
  for (let left = ms; left > 0 && !ports.isLeaving() && !signal.aborted; left -= longestPauseMs) {
    await new Promise<void>((resolve) => {
      const go = () => {
        signal.removeEventListener('abort', go);
        resolve();
      };
      signal.addEventListener('abort', go);
      ports.clock.alarm(Math.min(left, longestPauseMs), go);
    });
  }
  run.signal.throwIfAborted();
}

async function blockedBy({ ports, tools }: Progress, call: ToolCall): Promise<FinalEnd | null> {
  const tool = tools.get(call.name);
  if (tool === undefined || isReadOnly(tool)) return null;
  const answer = await ports.hook.mayRun(call, tool);
  return answer.kind === 'allowed' ? null : { kind: 'stopped', reason: 'hook_blocked', message: answer.message };
}

async function recordResultOf(progress: Progress, call: ToolCall, result: CallResult): Promise<Outcome> {
  await progress.ports.store.recordResult(call.id, result, null);
  progress.steps = progress.steps.map((step) => (step.kind === 'model' ? withCall(step, call.id, { result }) : step));
  return { kind: 'settled' };
}

function withCall(step: ModelStep, callId: string, known: Partial<RecordedCall>): ModelStep {
  return { ...step, calls: step.calls.map((each) => (each.call.id === callId ? { ...each, ...known } : each)) };
}

async function waitFor(progress: Progress, opened: readonly NewWait[]): Promise<RunEnd | null> {
  if ((await progress.ports.store.wait(opened)) === 'waiting') return { kind: 'waiting' };
  const recorded = await progress.ports.store.load();
  if (recorded.kind === 'take_up_anew') return recorded;
  progress.steps = [...recorded.steps];
  return null;
}

/** Waits for all promises before it throws, so that nothing continues after the run has ended. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** The timeout of a tool that sets none. */
const usualTimeoutS = 180;
/** Time for an aborted tool to report how far it came. */
const graceMs = 5_000;
const longestOutput = 100_000;

/** `isTools`: the tool reported this itself. Otherwise its progress is unknown. */
type TimedOutcome = ToolOutcome & { isTools: boolean };

/**
 * Runs one tool call and always returns: the result, or an error for a tool that took too long or threw. It throws only
 * the reason of a run that has ended.
 */
async function runInTime(
  { clock, tools }: Pick<Ports, 'clock' | 'tools'>,
  call: ToolCall,
  tool: Tool,
  run: {
    /** Aborted if the run was ended from outside. Its reason is then thrown. */
    ended: AbortSignal;
    /** Aborted in that case, and when the run has used up its minutes. */
    signal: AbortSignal;
    soFar: CallSoFar;
  },
): Promise<TimedOutcome> {
  const tooLong = new AbortController();
  const isBack = new AbortController();
  const limit = AbortSignal.any([run.signal, tooLong.signal]);
  const putOff = clock.alarm((tool.timeoutS ?? usualTimeoutS) * 1000, () => tooLong.abort(new Error('Too long.')));
  try {
    const late = neglected(clock, limit, isBack.signal);
    return withinLength(await Promise.race([late, tools.run(call, tool, limit, run.soFar)]));
  } catch {
    run.ended.throwIfAborted();
    return cameToNothing(limit.aborted ? 'The tool did not answer in time and was stopped.' : 'The tool broke.', tool);
  } finally {
    putOff();
    isBack.abort();
  }
}

/** Rejects if a tool ignores its signal, so that it cannot block the run for ever. */
function neglected(clock: Ports['clock'], limit: AbortSignal, isBack: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    let putOff = () => {};
    const wait = () => {
      putOff = clock.alarm(graceMs, () => reject(new Error('The tool did not come back.')));
    };
    limit.addEventListener('abort', wait, { once: true, signal: isBack });
    isBack.addEventListener('abort', () => putOff(), { once: true });
  });
}

function cameToNothing(what: string, tool: Tool): TimedOutcome {
  const output = isReadOnly(tool) ? what : `${what} Whether it took effect is unknown.`;
  return { kind: 'result', output, isError: true, isTools: false };
}

function withinLength(outcome: ToolOutcome): TimedOutcome {
  if (outcome.kind !== 'result' || outcome.output.length <= longestOutput) return { ...outcome, isTools: true };
  const { length } = outcome.output;
  const output = `${outcome.output.slice(0, longestOutput)}\n[The rest of ${length} characters was left out.]`;
  return { ...outcome, output, isTools: true };
}
