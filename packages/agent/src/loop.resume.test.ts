import { describe, expect, it } from 'vitest';
import { call, driveToEnd, noted, ok, scene, toolLog, tools } from './loop.fixture.ts';
import { runAgent } from './loop.ts';
import { ModelFailure } from './model.ts';
import type { Ports, ToolOutcome } from './ports.ts';
import type { WaitOutcome } from './step.ts';

const approved: WaitOutcome = { decision: 'approved' };

describe('a pending call', () => {
  it('ends the run as waiting and runs after approval', async () => {
    const here = scene([{ calls: [call('pay', { amount: 5 })] }, { text: 'Paid.' }]);
    expect(await runAgent(here.run, here.ports)).toEqual({ kind: 'waiting' });
    expect(here.log.ran).toEqual([]);
    expect(here.memory.interactions).toMatchObject([
      { purpose: 'permission', draft: { type: 'approval', kind: 'tool_permission', details: { tool_name: 'pay' } } },
    ]);
    expect(await driveToEnd(here.run, here.ports, here.memory, () => approved)).toMatchObject({ text: 'Paid.' });
    expect(here.log.ran).toMatchObject([{ name: 'pay', arguments: { amount: 5 } }]);
    expect(here.script.requests).toHaveLength(2);
  });

  it.each<[string, WaitOutcome, string]>([
    ['a no [WAIT-011]', { decision: 'denied', message: 'Too dear' }, 'The person said no. They wrote: "Too dear".'],
    ['no answer in time [WAIT-012]', { decision: 'expired', message: null }, 'Nobody answered in time.'],
    ['a withdrawal', { decision: 'cancelled', message: null }, 'The request was withdrawn'],
    ['an answer that is no yes', { decision: 'answered', output: 'yes', isError: false }, 'There was no yes.'],
  ])('leaves the tool uncalled and tells the agent after %s', async (_what, outcome, message) => {
    const here = scene([{ calls: [call('pay')] }, { text: 'Then not.' }]);
    expect(await driveToEnd(here.run, here.ports, here.memory, () => outcome)).toMatchObject({ text: 'Then not.' });
    expect(here.log.ran).toEqual([]);
    expect(here.results()).toEqual([{ output: expect.stringContaining(message), isError: true, from: 'run' }]);
    expect(here.results()[0]?.output).toMatch(/The tool was not called\.$/);
  });

  it('a function call waits for approval first and then reaches the caller [WAIT-001, WAIT-002]', async () => {
    const here = scene([{ calls: [call('order', { n: 1 })] }, { text: 'Ordered.' }]);
    const end = await driveToEnd(here.run, here.ports, here.memory, (_call, purpose) =>
      purpose === 'permission' ? approved : { decision: 'answered', output: '{"id":7}', isError: false },
    );
    expect(end).toMatchObject({ text: 'Ordered.' });
    expect(here.memory.interactions.map(({ draft }) => draft.type)).toEqual(['approval', 'tool_call']);
    expect(here.results()).toEqual([noted('{"id":7}')]);
    expect(here.log.ran).toEqual([]);
  });

  it('a function call without an answer becomes an error for the agent', async () => {
    const here = scene([{ calls: [call('stock')] }, { text: 'No answer.' }]);
    await driveToEnd(here.run, here.ports, here.memory, () => ({ decision: 'expired', message: null }));
    expect(here.results()).toEqual([
      { output: expect.stringContaining('may have run the call'), isError: true, from: 'run' },
    ]);
  });

  it('a function call that may have run before its answer was overdue has an unknown outcome [INT-142]', async () => {
    const here = scene([{ calls: [call('order')] }, { text: 'Unknown.' }]);
    await driveToEnd(here.run, here.ports, here.memory, (_call, purpose) =>
      purpose === 'permission' ? approved : { decision: 'expired', message: null },
    );
    const [result] = here.results();
    expect(result).toMatchObject({ isError: true, from: 'run' });
    expect(result?.output).toMatch(/outcome is unknown.+may have done it.+Do not repeat the call/s);
  });

  it("a question gets the person's words, which are not fenced as data", async () => {
    const here = scene([{ calls: [call('ask_question')] }, { text: 'Blue then.' }]);
    await driveToEnd(here.run, here.ports, here.memory, () => ({
      decision: 'answered',
      output: 'Blue',
      isError: false,
    }));
    expect(here.script.requests[1]?.messages.at(-1)).toMatchObject({ results: [{ output: 'Blue', isError: false }] });
  });

  it('a call that needs an app runs once the app is connected', async () => {
    const connect: ToolOutcome = {
      kind: 'connect',
      draft: { ...draftOf('connect'), kind: 'connector_auth', summary: 'Connect the shop.' },
    };
    const log = toolLog(() => (log.ran.length === 1 ? connect : ok('connected and done')));
    const here = scene([{ calls: [call('change')] }, { text: 'Done.' }], { ports: { tools: log.runner } });
    const end = await driveToEnd(here.run, here.ports, here.memory, () => ({
      decision: 'answered',
      output: '',
      isError: false,
    }));
    expect(end).toMatchObject({ text: 'Done.' });
    expect(here.memory.interactions).toMatchObject([{ purpose: 'connection', draft: { type: 'connect' } }]);
    expect(here.results()).toEqual([noted('connected and done')]);
  });

  it('continues if the answer arrived while the run was ending', async () => {
    const here = scene([{ calls: [call('stock', { n: 1 }), call('stock', { n: 2 })] }, { text: 'Both.' }]);
    const { store } = here.memory;
    const answerOne = (index: number) => {
      const interaction = here.memory.interactions[index];
      if (interaction) here.memory.answer(interaction, { decision: 'answered', output: `${index}`, isError: false });
    };
    expect(await runAgent(here.run, here.ports)).toEqual({ kind: 'waiting' });
    answerOne(0);
    const racing = {
      ...store,
      wait: (waits: Parameters<typeof store.wait>[0]) => {
        answerOne(1);
        return store.wait(waits);
      },
    };
    expect(await runAgent(here.run, { ...here.ports, store: racing })).toMatchObject({ text: 'Both.' });
    expect(here.results()).toEqual([noted('0'), noted('1')]);
  });

  it('is rejected after approval if its tool was denied meanwhile', async () => {
    const here = scene([{ calls: [call('pay')] }, { text: 'Not any more.' }]);
    await runAgent(here.run, here.ports);
    const { origin } = tools.pay;
    const floor = { deny: ['pay'], require_approval: [] };
    const pay = { ...tools.pay, origin: origin.from === 'server' ? { ...origin, floor } : origin };
    await driveToEnd({ ...here.run, tools: [pay] }, here.ports, here.memory, () => approved);
    expect(here.log.ran).toEqual([]);
    expect(here.results()).toMatchObject([{ isError: true, output: expect.stringContaining('may not be called') }]);
  });
});

describe('a run whose tools are out of date', () => {
  const outdated: Ports['store']['load'] = async () => ({ kind: 'take_up_anew' });

  it('ends before it uses them and continues when it is started again', async () => {
    const here = scene([{ calls: [call('change')] }, { text: 'Changed.' }]);
    const store = { ...here.memory.store, load: outdated };
    expect(await runAgent(here.run, { ...here.ports, store })).toEqual({ kind: 'take_up_anew' });
    expect([here.script.requests, here.memory.steps(), here.memory.end()]).toEqual([[], [], null]);
    expect(await runAgent(here.run, here.ports)).toMatchObject({ text: 'Changed.' });
  });

  it('ends also if an answer outdates them while it is about to wait', async () => {
    const here = scene([{ calls: [call('pay')] }, { text: 'Paid.' }]);
    const { store } = here.memory;
    let loads = 0;
    const racing: Ports['store'] = {
      ...store,
      load: () => (++loads === 1 ? store.load() : outdated()),
      async wait(waits) {
        await store.wait(waits);
        for (const each of here.memory.interactions) here.memory.answer(each, approved);
        return 'answered';
      },
    };
    expect(await runAgent(here.run, { ...here.ports, store: racing })).toEqual({ kind: 'take_up_anew' });
    expect([here.log.ran, here.memory.end(), here.script.requests.length]).toEqual([[], null, 1]);
    expect(await runAgent(here.run, here.ports)).toMatchObject({ text: 'Paid.' });
    expect([here.log.ran.length, here.script.requests.length]).toEqual([1, 2]);
  });
});

describe('a process that dies', () => {
  it('between start and result of a change: does not repeat the change and informs the agent [JOB-001] [JOB-003]', async () => {
    // The writes are: the answer, the start, the result.
    const here = scene([{ calls: [call('change')] }, { text: 'I will check.' }], {
      crashes: ['none', 'none', 'before'],
    });
    expect(await driveToEnd(here.run, here.ports, here.memory)).toMatchObject({ text: 'I will check.' });
    expect(here.log.ran).toHaveLength(1);
    expect(here.script.requests).toHaveLength(2);
    expect(here.script.requests[1]?.messages.at(-1)).toMatchObject({
      results: [{ isError: true, output: expect.stringContaining('Its outcome is unknown') }],
    });
  });

  it('between start and result of a lookup: runs the lookup again [JOB-002]', async () => {
    const here = scene([{ calls: [call('look')] }, { text: 'Seen.' }], { crashes: ['none', 'none', 'before'] });
    expect(await driveToEnd(here.run, here.ports, here.memory)).toMatchObject({ text: 'Seen.' });
    expect(here.log.ran).toHaveLength(2);
    expect(here.results()).toEqual([noted('look done')]);
  });

  it('after an answer was recorded: does not ask the model again', async () => {
    const here = scene([{ calls: [call('look')] }, { text: 'Seen.' }], { crashes: ['after'] });
    await driveToEnd(here.run, here.ports, here.memory);
    expect(here.script.requests).toHaveLength(2);
  });

  it('before the end of an answer was recorded: the successor records it', async () => {
    const here = scene([]);
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    await here.memory.store.recordModelStep(
      { kind: 'model', text: 'So be it.', calls: [], notice: null, isCut: false, reasoning: null, usage },
      null,
    );
    expect(await runAgent(here.run, here.ports)).toMatchObject({ kind: 'answered', text: 'So be it.' });
    expect(here.memory.end()).toMatchObject({ kind: 'answered' });
    expect(here.script.requests).toEqual([]);
  });

  it.each([
    ['finish', 'answered'],
    ['hand_off_to_work', 'handed_off'],
  ])('with `%s` recorded but not its end: the successor records the end', async (name, kind) => {
    const here = scene([]);
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const ended = {
      call: { ...call(name), id: 'call_1' },
      waits: [],
      isStarted: true,
      result: { output: '', isError: false, from: 'run' as const },
    };
    await here.memory.store.recordModelStep(
      { kind: 'model', text: '', calls: [ended], notice: null, isCut: false, reasoning: null, usage },
      null,
    );
    expect(await runAgent(here.run, here.ports)).toMatchObject({ kind });
    expect(here.memory.end()).toMatchObject({ kind });
    expect(here.script.requests).toEqual([]);
  });

  it('on a planned shutdown: hands the run back before the next step', async () => {
    let isLeaving = false;
    const log = toolLog(() => {
      isLeaving = true;
      return ok('done');
    });
    const here = scene([{ calls: [call('change'), call('change')] }, { text: 'Both.' }], {
      ports: { tools: log.runner, isLeaving: () => isLeaving },
    });
    expect(await runAgent(here.run, here.ports)).toEqual({ kind: 'handed_back' });
    expect(here.memory.end()).toBeNull();
    expect(log.ran).toHaveLength(1);
    expect(await runAgent(here.run, { ...here.ports, isLeaving: () => false })).toMatchObject({ text: 'Both.' });
    expect(log.ran).toHaveLength(2);
  });

  it('aborted while the model fails because of it: throws the reason and records no end', async () => {
    const controller = new AbortController();
    const model: Ports['model'] = {
      // biome-ignore lint/correctness/useYield: it fails before it says anything.
      async *stream() {
        controller.abort(new Error('stopped by the user'));
        throw new ModelFailure('timeout', 'The connection was closed.');
      },
    };
    const here = scene([], { ports: { model } });
    await expect(runAgent({ ...here.run, signal: controller.signal }, here.ports)).rejects.toThrow(
      'stopped by the user',
    );
    expect(here.memory.end()).toBeNull();
  });

  it('aborted by its signal: throws the reason and records no end', async () => {
    const controller = new AbortController();
    const log = toolLog(() => {
      controller.abort(new Error('stopped by the user'));
      throw new Error('ended');
    });
    const here = scene([{ calls: [call('change')] }], { ports: { tools: log.runner } });
    await expect(runAgent({ ...here.run, signal: controller.signal }, here.ports)).rejects.toThrow(
      'stopped by the user',
    );
    expect(here.memory.end()).toBeNull();
    expect(here.results()).toEqual([null]);
  });
});

function draftOf(type: 'connect') {
  return { type, moves_money: false, requires_present_user: false, details: {}, expires_in_s: null } as const;
}

describe('a call that continues in its tool', () => {
  /** Pauses end at once. */
  const clock: Ports['clock'] = {
    now: () => 0,
    alarm: (ms, ring) => {
      if (ms <= 1000) queueMicrotask(ring);
      return () => {};
    },
  };
  /** Starts once, is polled twice, and then returns its answer. */
  function slowTool() {
    const asked: unknown[] = [];
    const handle = { id: 'task-7' };
    const runner: Ports['tools'] = {
      validate: async () => ({ kind: 'ok' }),
      async run(_call, _tool, _signal, { underWay }) {
        asked.push(underWay);
        return asked.length < 4 ? { kind: 'under_way', handle, askAgainMs: 2500 } : ok('Printed.');
      },
    };
    return { asked, handle, runner };
  }

  it.each([['nowhere'], ['before'], ['after']] as const)(
    'is started once, also if the process dies %s its handle is written, and its answer is the result [MCPS-442]',
    async (where) => {
      const { asked, handle, runner } = slowTool();
      const hooks: string[] = [];
      const hook: Ports['hook'] = {
        mayRun: async ({ name }) => {
          hooks.push(name);
          return { kind: 'allowed' };
        },
      };
      const here = scene([{ calls: [call('change')] }, { text: 'Done.' }], {
        crashes: ['none', 'none', where === 'nowhere' ? 'none' : where],
        ports: { clock, tools: runner, hook },
      });
      expect(await driveToEnd(here.run, here.ports, here.memory)).toMatchObject({ text: 'Done.' });
      expect(hooks).toEqual(['change']);
      if (where === 'before') {
        expect(asked).toEqual([undefined]);
        expect(here.results()[0]?.output).toContain('outcome is unknown');
        return;
      }
      expect(asked).toEqual([undefined, handle, handle, handle]);
      expect(here.results()).toEqual([noted('Printed.')]);
    },
  );

  it('does not block a shutdown: another process continues it [MCPS-442]', async () => {
    const { asked, handle, runner } = slowTool();
    let isLeaving = false;
    const here = scene([{ calls: [call('change')] }, { text: 'Done.' }], {
      ports: {
        clock: {
          ...clock,
          alarm: (ms, ring) => {
            isLeaving ||= ms <= 1000;
            return clock.alarm(ms, ring);
          },
        },
        tools: runner,
        isLeaving: () => isLeaving,
      },
    });
    expect(await runAgent(here.run, here.ports)).toEqual({ kind: 'handed_back' });
    expect(asked).toEqual([undefined]);
    const next = { ...here.ports, clock, isLeaving: () => false };
    expect(await runAgent(here.run, next)).toMatchObject({ text: 'Done.' });
    expect(asked).toEqual([undefined, handle, handle, handle]);
  });
});
