import { nextMove } from './call-progress.ts';
import { receiveCall } from './call-refusal.ts';
import { exchangesToCover, summaryRequest } from './compaction.ts';
import { withKeptFacts } from './kept-facts.ts';
import { type Answer, listen } from './listen.ts';
import { withContent } from './media.ts';
import { ModelFailure, type ModelRequest } from './model.ts';
import type { FinalEnd, Ports, RunEnd } from './ports.ts';
import { endRun, outOfTime, type Progress, type Run, stopNow, takeUp, timeLeft } from './progress.ts';
import type { ModelStep, Step } from './step.ts';
import { decisionOf } from './tool.ts';
import { beginningIn, exchangesOf, goOn, lastSummary, messagesOf } from './transcript.ts';
import { isVerdict } from './verdict.ts';
import { endOfMove, isOpen, workOffCalls } from './work-off-calls.ts';

const mostCallsOfAnswer = 32;
const mostNoticesInARow = 3;

/**
 * Runs until there is an end. It can be called again after any crash and resumes from the recorded steps. It never
 * requests a recorded answer again and never repeats a call that has a result.
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

/** Returns null if there is more to do. */
async function advance(progress: Progress): Promise<RunEnd | null> {
  const last = progress.steps.at(-1);
  if (last?.kind === 'model') {
    const end = endOf(progress, last);
    if (end !== null) return endRun(progress, end);
  }
  if (progress.ports.isLeaving()) return { kind: 'handed_back' };
  if (last?.kind === 'model' && last.calls.some(isOpen)) return workOffCalls(progress, last);
  return askModel(progress);
}

/** Returns the end that a recorded step implies, for a run that crashed after recording it. */
function endOf(progress: Progress, step: ModelStep): FinalEnd | null {
  // Its answer was judged and sent back.
  if (isVerdict(step.notice)) return null;
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
  if (stop !== null) return endRun(progress, beginning ? cutOff(beginning) : stop);
  if (covers !== null) return compact(progress, covers, request);

  // The continuation of a cut answer is appended to the text of the cut step.
  const index = beginning ? steps.indexOf(beginning) : steps.length;
  const answer = await hear(progress, request, (text) => progress.ports.store.appendText(index, text));
  if (!(answer instanceof ModelFailure)) return receive(progress, answer);
  if (beginning) return endRun(progress, cutOff(beginning), answer);
  if (progress.timeUp.signal.aborted) return endRun(progress, outOfTime(progress), answer);
  const forced = answer.reason === 'too_long' ? coverage(progress, { force: true }) : null;
  if (forced === null) return endRun(progress, failed(answer), answer);
  return compact(progress, forced, requestOfSummary(progress, forced));
}

const hear = ({ ports, run, timeUp }: Progress, request: ModelRequest, onText: (text: string) => Promise<void>) =>
  listen(ports.model, request, {
    onText,
    ...(ports.warn && { onWarning: ports.warn }),
    ended: run.signal,
    timeUp: timeUp.signal,
  });

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
  const noticed = (each: Step) =>
    each.kind === 'model' && each.notice !== null && each.calls.length === 0 && !isVerdict(each.notice);
  if (!noticed(step)) return null;
  const before = steps.slice(-(mostNoticesInARow - 1));
  if (before.length < mostNoticesInARow - 1 || !before.every(noticed)) return null;
  return {
    kind: 'failed',
    code: 'model_error',
    message: `The model gave no usable answer ${mostNoticesInARow} times.`,
  };
}

async function compact(progress: Progress, covers: number, request: ModelRequest): Promise<RunEnd | null> {
  const { run, ports, steps } = progress;
  const answer = await hear(progress, request, async () => {});
  if (answer instanceof ModelFailure && progress.timeUp.signal.aborted) {
    return endRun(progress, outOfTime(progress), answer);
  }
  if (answer instanceof ModelFailure) return endRun(progress, failed(answer), answer);
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
      contextTokens: Math.min(
        run.contextTokens - (run.maxOutputTokens ?? 0),
        run.inputTokens ?? Number.POSITIVE_INFINITY,
      ),
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
    ...(run.reasoning === undefined ? {} : { reasoning: run.reasoning }),
    signal,
  };
}

const offered = (run: Run) => run.tools.filter((tool) => decisionOf(tool) !== 'refuse').map((tool) => tool.definition);

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

/** If the rest cannot be obtained, the partial text is kept and marked as cut. */
const cutOff = ({ text }: ModelStep): FinalEnd => ({ kind: 'answered', text, data: null, isCut: true });

const failed = (failure: ModelFailure): FinalEnd => ({ kind: 'failed', code: 'model_error', message: failure.message });
