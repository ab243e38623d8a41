import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovalCategory } from './approval-category.ts';
import { nextMove } from './call-progress.ts';
import { tools } from './loop.fixture.ts';
import type { RecordedCall, WaitOutcome, WaitPurpose } from './step.ts';
import { decisionOf, type Tool } from './tool.ts';

const wait = (purpose: WaitPurpose, outcome: WaitOutcome | null) => ({ purpose, outcome });
const approved: WaitOutcome = { decision: 'approved' };
const denied: WaitOutcome = { decision: 'denied', message: null };
const answer: WaitOutcome = { decision: 'answered', output: 'So.', isError: false };

function move(tool: Tool | undefined, given: Partial<RecordedCall> = {}) {
  const call = { id: 'call_1', name: tool?.definition.name ?? 'gone', arguments: {} };
  return nextMove({ call, waits: [], isStarted: false, result: null, ...given }, tool, []);
}

describe('nextMove', () => {
  it.each<[string, Tool | undefined, Partial<RecordedCall>, object]>([
    ['a lookup', tools.look, {}, { kind: 'run' }],
    ['a lookup that was started', tools.look, { isStarted: true }, { kind: 'run' }],
    ['a free change', tools.change, {}, { kind: 'run' }],
    ['a change that was started', tools.change, { isStarted: true }, { kind: 'result', result: { isError: true } }],
    ['a started call of a tool that is gone', undefined, { isStarted: true }, unknownOutcome()],
    ['a call of a tool that is gone', undefined, {}, { kind: 'result', result: { isError: true, from: 'run' } }],
    ['a change that needs a yes', tools.pay, {}, { kind: 'ask', purpose: 'permission' }],
    ['an open wait', tools.pay, { waits: [wait('permission', null)] }, { kind: 'stand_by' }],
    ['a yes', tools.pay, { waits: [wait('permission', approved)] }, { kind: 'run' }],
    ['a no', tools.pay, { waits: [wait('permission', denied)] }, { kind: 'result', result: { isError: true } }],
    [
      'a yes to something else',
      tools.pay,
      { waits: [wait('connection', approved)] },
      { kind: 'ask', purpose: 'permission' },
    ],
    [
      'a yes, and a started change',
      tools.pay,
      { waits: [wait('permission', approved)], isStarted: true },
      unknownOutcome(),
    ],
    ['a connected app', tools.change, { waits: [wait('connection', answer)] }, { kind: 'run' }],
    ['an app that was not connected', tools.change, { waits: [wait('connection', denied)] }, { kind: 'result' }],
    [
      'a function with a yes',
      tools.order,
      { waits: [wait('permission', approved)] },
      { kind: 'ask', purpose: 'answer' },
    ],
    ['a function with a no', tools.order, { waits: [wait('permission', denied)] }, { kind: 'result' }],
    ['a function that was answered', tools.stock, { waits: [wait('answer', answer)] }, settled('So.', 'tool')],
    ['a question that was answered', tools.ask_question, { waits: [wait('answer', answer)] }, settled('So.', 'person')],
    [
      'a yes in person',
      tools.ask_question,
      { waits: [wait('answer', approved)] },
      settled('The person said yes.', 'person'),
    ],
    ['a denied tool, a yes or not', tools.denied, { waits: [wait('permission', approved)] }, { kind: 'result' }],
    ['a hand-off', tools.hand_off_to_work, {}, { kind: 'hand_off' }],
    ['the end', tools.finish, {}, { kind: 'finish', text: 'Finished.' }],
  ])('%s', (_what, tool, given, expected) => {
    expect(move(tool, given)).toMatchObject(expected);
  });

  it('waits because of flags and lists alone, regardless of category and `approvals` [WAIT-022, WAIT-026]', () => {
    const categories: ApprovalCategory[] = ['payment', 'booking', 'cancellation', 'send_email', 'publish', 'delete'];
    const descriptions = fc.constantFrom('Pays.', 'Books a table.', 'Cancels.', 'Deletes it all.', 'Hums.', '');
    const anyTool = fc.constantFrom(tools.look, tools.change, tools.pay, tools.order, tools.stock, tools.denied);
    fc.assert(
      fc.property(anyTool, descriptions, fc.subarray(categories), (tool, description, approvals) => {
        const worded: Tool = { ...tool, definition: { ...tool.definition, description } };
        const call = { id: 'call_1', name: tool.definition.name, arguments: {} };
        const next = nextMove({ call, waits: [], isStarted: false, result: null }, worded, approvals);
        const waits = next.kind === 'ask' && next.purpose === 'permission';
        expect(waits).toBe(decisionOf(tool) === 'wait');
      }),
    );
  });
});

describe('an answer other than approval', () => {
  const late: WaitOutcome = { decision: 'expired', message: null };
  const failure: WaitOutcome = { decision: 'answered', output: 'Not so.', isError: true };
  const withdrawn = (message: string | null): WaitOutcome => ({ decision: 'cancelled', message });
  const mighty: Tool = { ...tools.ask_question, origin: { from: 'agent', isReadOnly: false } };
  const overdue = expect.stringMatching(/^No answer came in time. The outcome is unknown/);

  it.each<[string, Tool | undefined, WaitPurpose, WaitOutcome, unknown]>([
    ['a change that the caller did not answer', tools.order, 'answer', late, overdue],
    ['one of a tool that is gone', undefined, 'answer', late, overdue],
    [
      'a lookup that the caller did not answer',
      tools.stock,
      'answer',
      late,
      expect.stringMatching(/may have run the call/),
    ],
    ['a question that nobody answered', tools.ask_question, 'answer', late, 'Nobody answered in time.'],
    ['one that may change something', mighty, 'answer', late, 'Nobody answered in time.'],
    ['a change that the caller refused', tools.order, 'answer', denied, 'The person said no.'],
    ['a permission out of time', tools.pay, 'permission', late, notCalled('Nobody answered in time.')],
    ['a permission with words', tools.pay, 'permission', answer, notCalled('There was no yes.')],
    ['an app that could not be connected', tools.change, 'connection', failure, notCalled('There was no yes.')],
    [
      'a no with a reason',
      tools.pay,
      'permission',
      { decision: 'denied', message: 'Too "dear".' },
      notCalled('The person said no. They wrote: "Too \\"dear\\".".'),
    ],
    [
      'a request that was withdrawn',
      tools.pay,
      'permission',
      withdrawn(null),
      notCalled('The request was withdrawn: go on without this action.'),
    ],
  ])('%s', (_what, tool, purpose, outcome, output) => {
    const result = { output, isError: true, from: 'run' };
    expect(move(tool, { waits: [wait(purpose, outcome)] })).toEqual({ kind: 'result', result });
  });

  it('is reported with the failure that the caller sent', () => {
    expect(move(tools.order, { waits: [wait('permission', approved), wait('answer', failure)] })).toEqual({
      kind: 'result',
      result: { output: 'Not so.', isError: true, from: 'tool' },
    });
  });

  it('blocks every later approval', () => {
    const waits = [wait('permission', approved), wait('connection', denied)];
    expect(move(tools.pay, { waits })).toMatchObject({ kind: 'result', result: { isError: true } });
  });
});

function notCalled(why: string) {
  return `${why} The tool was not called.`;
}

function unknownOutcome() {
  return { kind: 'result', result: { output: expect.stringContaining('outcome is unknown'), isError: true } };
}

function settled(output: string, from: 'tool' | 'person') {
  return { kind: 'result', result: { output, isError: false, from } };
}
