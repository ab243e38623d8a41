import type { ToolCall } from './message.ts';
import type { CallSoFar, Ports, ToolOutcome } from './ports.ts';
import { isReadOnly, type Tool } from './tool.ts';

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
export async function runInTime(
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
