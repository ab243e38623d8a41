import { describe, expect, it } from 'vitest';
import {
  call,
  driveToEnd,
  handClock,
  noted,
  ok,
  type ScriptedAnswer,
  scene,
  scriptedModel,
  silentClock,
  toolLog,
  tools,
} from './loop.fixture.ts';
import { runAgent } from './loop.ts';
import type { Message, ToolCall } from './message.ts';
import { type Model, ModelFailure } from './model.ts';
import type { Ports, ToolOutcome } from './ports.ts';
import type { Tool } from './tool.ts';

describe('an answer', () => {
  it('ends the run, is streamed, and is recorded together with the end in one write', async () => {
    const { memory, ports, run } = scene([{ text: 'It is ready.' }]);
    expect(await runAgent(run, ports)).toEqual({ kind: 'answered', text: 'It is ready.', data: null, isCut: false });
    expect(memory.deltas).toEqual(['It ', 'is ', 'ready.'].map((text) => ({ stepIndex: 0, text })));
    expect(memory.end()).toEqual({ kind: 'answered', text: 'It is ready.', data: null, isCut: false });
  });

  it('is requested again with the validation errors until it fits the schema', async () => {
    const { script, ports, run } = scene([{ text: 'four' }, { text: '4' }]);
    const read = (text: string) =>
      text === '4' ? { kind: 'ok' as const, data: 4 } : { kind: 'error' as const, message: 'It is no number.' };
    const end = await runAgent({ ...run, output: { schema: { type: 'number' }, read } }, ports);
    expect(end).toEqual({ kind: 'answered', text: '4', data: 4, isCut: false });
    expect(textOf(script.requests[1]?.messages.at(-1))).toContain('It is no number.');
    expect(script.requests[0]?.outputSchema).toEqual({ type: 'number' });
  });

  it('is requested again, shorter, if data was cut off', async () => {
    const { script, ports, run } = scene([{ text: '[4, 4', cut: true }, { text: '4' }]);
    const read = (text: string) =>
      text === '4' ? { kind: 'ok' as const, data: 4 } : { kind: 'error' as const, message: 'It is no number.' };
    await runAgent({ ...run, output: { schema: { type: 'number' }, read } }, ports);
    const told = textOf(script.requests[1]?.messages.at(-1));
    expect(told).toContain('ran into the limit of length');
    expect(told).not.toContain('It is no number.');
  });

  it('is continued once if it was cut off, and becomes one text [RSN-010]', async () => {
    const { script, memory, ports, run } = scene([{ text: 'First, take the gre', cut: true }, { text: 'en one.' }]);
    const end = await runAgent(run, ports);
    expect(end).toEqual({ kind: 'answered', text: 'First, take the green one.', data: null, isCut: false });
    expect(memory.end()).toEqual(end);
    expect(textOf(script.requests[1]?.messages.at(-1))).toContain('Go on exactly where you stopped');
    expect(new Set(memory.deltas.map(({ stepIndex }) => stepIndex))).toEqual(new Set([0]));
  });

  it.each([
    ['is cut off again', { text: 'en', cut: true }, {}, 'First, take the green'],
    ['may not be asked for: the steps are used up', { text: 'en' }, { max_steps: 1 }, 'First, take the gre'],
  ])('is kept and marked as cut if the rest %s [RSN-010]', async (_case, rest, limits, text) => {
    const { script, ports, run } = scene([{ text: 'First, take the gre', cut: true }, rest, { text: 'never' }]);
    const limited = { ...run, limits: { ...run.limits, ...limits } };
    expect(await runAgent(limited, ports)).toEqual({ kind: 'answered', text, data: null, isCut: true });
    expect(script.requests.length).toBeLessThan(3);
  });

  it('is kept and marked as cut if the model fails on the rest [RSN-010]', async () => {
    const { ports, run } = scene([{ text: 'First', cut: true }]);
    const { model } = scriptedModel((turn) => {
      if (turn > 0) throw new ModelFailure('unavailable', 'Gone.');
      return { text: 'First', cut: true };
    });
    expect(await runAgent(run, { ...ports, model })).toMatchObject({ kind: 'answered', text: 'First', isCut: true });
  });

  it('with too many calls does not count as empty', async () => {
    const many = Array.from({ length: 40 }, () => call('look'));
    const { ports, run } = scene([{ calls: many }, {}, {}, { text: 'Fine.' }]);
    expect(await runAgent(run, ports)).toMatchObject({ kind: 'answered', text: 'Fine.' });
  });

  it('that is empty three times in a row fails the run', async () => {
    const { script, ports, run, memory } = scene([{}, { text: ' ' }, {}, { text: 'Too late.' }]);
    expect(await runAgent(run, ports)).toMatchObject({ kind: 'failed', code: 'model_error' });
    expect(script.requests).toHaveLength(3);
    expect(memory.end()).toMatchObject({ kind: 'failed' });
  });

  it("that the model cannot give fails the run with the model's message", async () => {
    const { ports, run } = scene([], { ports: { model: failingModel(new ModelFailure('refused', 'It will not.')) } });
    expect(await runAgent(run, ports)).toEqual({ kind: 'failed', code: 'model_error', message: 'It will not.' });
  });

  it('without an end event is invalid', async () => {
    const model: Ports['model'] = {
      async *stream() {
        yield { type: 'text', text: 'Half of' };
      },
    };
    const { ports, run } = scene([], { ports: { model } });
    expect(await runAgent(run, ports)).toMatchObject({ kind: 'failed', code: 'model_error' });
  });

  it('through `finish` ends the run with its arguments', async () => {
    const { memory, ports, run } = scene([{ calls: [call('finish')] }]);
    expect(await runAgent(run, ports)).toEqual({
      kind: 'answered',
      text: 'Finished.',
      data: { ok: true },
      isCut: false,
    });
    expect(memory.end()).toMatchObject({ kind: 'answered' });
  });

  it('that hands off ends with the call and the text for the user', async () => {
    const { ports, run } = scene([{ text: 'I am on it.', calls: [call('hand_off_to_work', { brief: 'Tidy up' })] }]);
    expect(await runAgent(run, ports)).toMatchObject({
      kind: 'handed_off',
      acknowledgement: 'I am on it.',
      call: { name: 'hand_off_to_work', arguments: { brief: 'Tidy up' } },
    });
  });
});

describe('a tool call', () => {
  it('runs, and its result reaches the model as fenced data', async () => {
    const here = scene([{ calls: [call('look', { at: 1 })] }, { text: 'Seen.' }]);
    expect(await runAgent(here.run, here.ports)).toMatchObject({ kind: 'answered', text: 'Seen.' });
    expect(here.results()).toEqual([noted('look done')]);
    expect(here.script.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      results: [{ output: '<data-f3nce of="look">\nlook done\n</data-f3nce>', isError: false }],
    });
  });

  it.each([
    ['of an unknown tool', call('fly'), 'There is no tool named "fly".'],
    ['of a denied tool', call('denied'), 'may not be called'],
    ['with arguments that are no JSON', call('change', '{"half'), 'not a JSON object'],
    ['with a list for arguments', call('change', []), 'not a JSON object'],
    ['with arguments that do not fit', call('change', { bad: 1 }), 'bad is not an argument.'],
    ['with more than 256 KB of arguments', call('change', { text: 'x'.repeat(256 * 1024) }), 'at most 262144'],
    ['with arguments nested without end', call('change', nested(100_000)), 'nested more than 64'],
  ])('%s: is an error result and runs nothing', async (_what, wrong, message) => {
    const here = scene([{ calls: [wrong] }, { text: 'Oh.' }]);
    expect(await runAgent(here.run, here.ports)).toMatchObject({ kind: 'answered' });
    expect(here.log.ran).toEqual([]);
    expect(here.results()).toEqual([{ output: expect.stringContaining(message), isError: true, from: 'run' }]);
    expect(JSON.stringify(here.memory.steps()).length).toBeLessThan(2000);
  });

  it('to a denied tool: the model is not offered the tool [WAIT-009]', async () => {
    const { script, log, ports, run } = scene([{ calls: [call('denied')] }, { text: 'No.' }]);
    await runAgent(run, ports);
    const names = script.requests[0]?.tools.map(({ name }) => name);
    expect(names).toEqual(
      Object.values(tools)
        .map(({ definition }) => definition.name)
        .filter((name) => name !== 'denied'),
    );
    expect(log.ran).toEqual([]);
  });

  it('beyond the 32nd of an answer is ignored, and the model is informed', async () => {
    const here = scene([{ calls: Array.from({ length: 40 }, () => call('look')) }, { text: 'Fine.' }]);
    await runAgent(here.run, here.ports);
    expect(here.log.ran).toHaveLength(32);
    expect(textOf(here.script.requests[1]?.messages.at(-1))).toBe('Only the first 32 of 40 calls were taken.');
  });

  it('whose runner throws is an error that names the unknown outcome', async () => {
    const broken = { ...toolLog(() => ok('')).runner, run: () => Promise.reject(new Error('a secret path')) };
    const here = scene([{ calls: [call('change')] }, { text: 'Hm.' }], { ports: { tools: broken } });
    await runAgent(here.run, here.ports);
    expect(here.results()).toEqual([
      { output: 'The tool broke. Whether it took effect is unknown.', isError: true, from: 'run' },
    ]);
  });

  it('with an endless output is cut and marked as cut', async () => {
    const log = toolLog(() => ok('x'.repeat(300_000)));
    const here = scene([{ calls: [call('look')] }], { ports: { tools: log.runner } });
    await runAgent(here.run, here.ports);
    expect(here.results()[0]?.output).toHaveLength(100_000 + '\n[The rest of 300000 characters was left out.]'.length);
  });
});

describe('several calls of one answer', () => {
  it('run in parallel if all are read-only', async () => {
    expect(await mostAtOnce([call('look'), call('look'), call('look')])).toBe(3);
  });

  it('run one after another, in order, if one may change something', async () => {
    expect(await mostAtOnce([call('look'), call('change'), call('look')])).toBe(1);
  });

  it('count as one step, and none runs if no further step could read its result [TASK-241]', async () => {
    const looks = { calls: [call('look'), call('look'), call('look')] };
    const here = scene([looks, looks, looks]);
    const end = await runAgent({ ...here.run, limits: { max_steps: 2, max_minutes: 60 } }, here.ports);
    expect(end).toMatchObject({ kind: 'stopped', reason: 'max_turns' });
    expect(here.script.requests).toHaveLength(2);
    expect(here.log.ran).toHaveLength(3);
  });

  it('are sent to the caller together if all are read-only', async () => {
    const here = scene([{ calls: [call('stock', { n: 1 }), call('stock', { n: 2 })] }, { text: 'Both.' }]);
    expect(await runAgent(here.run, here.ports)).toEqual({ kind: 'waiting' });
    expect(here.memory.interactions.map(({ purpose }) => purpose)).toEqual(['answer', 'answer']);
  });

  async function mostAtOnce(calls: NonNullable<ScriptedAnswer['calls']>): Promise<number> {
    let now = 0;
    let most = 0;
    const log = toolLog(async ({ name }) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
      return ok(name);
    });
    const { ports, run } = scene([{ calls }, { text: 'Done.' }], { ports: { tools: log.runner } });
    await runAgent(run, ports);
    expect(log.ran.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
    return most;
  }
});

describe('a limit', () => {
  it('max_steps ends a model that only makes mistakes [TASK-032]', async () => {
    const model = scriptedModel(() => ({ calls: [call('fly'), call('denied')] }));
    const here = scene([], { ports: { model: model.model } });
    const end = await runAgent({ ...here.run, limits: { max_steps: 10, max_minutes: 60 } }, here.ports);
    expect(end).toEqual({ kind: 'stopped', reason: 'max_turns', message: 'The limit of 10 steps was reached.' });
    expect(model.requests).toHaveLength(10);
    expect(here.memory.end()).toEqual(end);
  });

  it('max_minutes includes the time worked before', async () => {
    let now = 0;
    const log = toolLog(() => {
      now += 61_000;
      return ok('slow');
    });
    const clock = { ...silentClock, now: () => now };
    const here = scene([{ calls: [call('look')] }], { ports: { tools: log.runner, clock } });
    const end = await runAgent({ ...here.run, limits: { max_steps: 10, max_minutes: 1 } }, here.ports);
    expect(end).toMatchObject({ kind: 'stopped', reason: 'max_turns' });
  });

  it('max_minutes ends a model call that takes longer [TASK-242]', async () => {
    const clock = handClock();
    const model: Model = {
      async *stream({ signal }) {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          clock.ring(60_000);
        });
      },
    };
    const here = scene([], { ports: { model, clock } });
    const end = await runAgent({ ...here.run, limits: { max_steps: 10, max_minutes: 1 } }, here.ports);
    expect(end).toEqual({ kind: 'stopped', reason: 'max_turns', message: 'The limit of 1 minute was reached.' });
    expect(here.memory.end()).toEqual(end);
    expect(clock.pending()).toEqual([]);
  });

  it('max_minutes ends a tool that takes longer, even if it ignores its signal [TASK-242]', async () => {
    for (const listens of [true, false]) {
      const clock = handClock();
      const run = (_call: unknown, _tool: unknown, signal: AbortSignal) =>
        new Promise<never>((_resolve, reject) => {
          if (listens) signal.addEventListener('abort', () => reject(signal.reason));
          clock.ring(60_000);
          clock.ring(5_000);
        });
      const here = scene([{ calls: [call('change')] }], {
        ports: { tools: { ...toolLog(() => ok('')).runner, run }, clock },
      });
      const end = await runAgent({ ...here.run, limits: { max_steps: 10, max_minutes: 1 } }, here.ports);
      expect(end).toMatchObject({ kind: 'stopped', reason: 'max_turns' });
      expect(here.results()[0]).toEqual({
        output: 'The tool did not answer in time and was stopped. Whether it took effect is unknown.',
        isError: true,
        from: 'run',
      });
    }
  });

  it('the timeout of one call lets the run continue with the next [TASK-243]', async () => {
    const clock = handClock();
    const run = async ({ arguments: given }: ToolCall, _tool: Tool, signal: AbortSignal): Promise<ToolOutcome> => {
      if ((given as { quick?: boolean }).quick) return ok('here');
      clock.ring(7_000);
      throw signal.reason;
    };
    const here = scene([{ calls: [call('look')] }, { calls: [call('look', { quick: true })] }, { text: 'Done.' }], {
      ports: { tools: { ...toolLog(() => ok('')).runner, run }, clock },
    });
    const look = { ...tools.look, timeoutS: 7 };
    expect(await runAgent({ ...here.run, tools: [look] }, here.ports)).toMatchObject({ kind: 'answered' });
    expect(here.results().map((result) => result?.output)).toEqual([
      'The tool did not answer in time and was stopped.',
      'here',
    ]);
    expect(clock.pending()).toEqual([]);
  });

  it('a money limit stops before the next call', async () => {
    const budget: Ports['budget'] = { mayContinue: async () => ({ kind: 'allowed', taskUsd: 0.5, turnUsd: null }) };
    const here = scene([{ text: 'Never said.' }], { ports: { budget } });
    const end = await runAgent({ ...here.run, limits: { ...here.run.limits, per_task_usd: 0.5 } }, here.ports);
    expect(end).toMatchObject({ kind: 'stopped', reason: 'max_budget' });
    expect(here.script.requests).toEqual([]);
  });

  it('an empty wallet stops before or during a run [TASK-034]', async () => {
    for (const allowed of [0, 1]) {
      let asked = 0;
      const stop = { reason: 'credits_exhausted' as const, message: 'The wallet is empty.' };
      const budget: Ports['budget'] = {
        mayContinue: async () => {
          asked += 1;
          return asked > allowed ? { kind: 'refused', stop } : { kind: 'allowed', taskUsd: 0, turnUsd: null };
        },
      };
      const here = scene([{ calls: [call('change')] }], { ports: { budget } });
      expect(await runAgent(here.run, here.ports)).toEqual({ kind: 'stopped', ...stop });
      expect(here.script.requests).toHaveLength(allowed);
      expect(here.log.ran).toEqual([]);
    }
  });
});

describe('the policy hook', () => {
  const blocking = (asked: string[]): Partial<Ports> => ({
    hook: {
      mayRun: async ({ name }) => {
        asked.push(name);
        return { kind: 'blocked', message: 'Not on Sundays.' };
      },
    },
  });

  it.each(['change', 'pay', 'order'])('stops the run before %s is called [TASK-036]', async (name) => {
    const asked: string[] = [];
    const here = scene([{ calls: [call(name)] }, { text: 'Never.' }], { ports: blocking(asked) });
    const end = await driveToEnd(here.run, here.ports, here.memory, () => ({ decision: 'approved' }));
    expect(end).toEqual({ kind: 'stopped', reason: 'hook_blocked', message: 'Not on Sundays.' });
    expect(here.log.ran).toEqual([]);
    expect(here.memory.interactions.filter(({ purpose }) => purpose === 'answer')).toEqual([]);
    expect(asked).toEqual([name]);
  });

  it('is not called for a read-only call [TASK-038]', async () => {
    const asked: string[] = [];
    const here = scene([{ calls: [call('look')] }, { text: 'Seen.' }], { ports: blocking(asked) });
    expect(await runAgent(here.run, here.ports)).toMatchObject({ text: 'Seen.' });
    expect(asked).toEqual([]);
  });
});

describe('a full context window', () => {
  it('is summarised once, and the run continues from the summary', async () => {
    const script = scriptedModel((_turn, { tools: offered, messages }) => {
      if (offered.length === 0) return { text: 'The user wanted all pages read; three were.' };
      const isSummarised = textOf(messages[0]).includes('three were');
      return isSummarised ? { text: 'All read.' } : { calls: [call('look')] };
    });
    const log = toolLog(() => ok('a long page '.repeat(100)));
    const here = scene([], { ports: { model: script.model, tools: log.runner } });
    const end = await runAgent({ ...here.run, contextTokens: 2500 }, here.ports);
    expect(end).toMatchObject({ kind: 'answered', text: 'All read.' });
    expect(here.memory.steps().filter(({ kind }) => kind === 'summary')).toHaveLength(1);
    const last = script.requests.at(-1)?.messages ?? [];
    expect(last.some((message) => textOf(message) === 'Please.')).toBe(true);
    expect(here.memory.deltas.map(({ text }) => text).join('')).toBe('All read.');
  });

  it('is summarised sooner if the vendor limits the input below the window [MOD-741]', async () => {
    const summaries = async (limits: object) => {
      const script = scriptedModel((turn, { tools: offered }) => {
        if (offered.length === 0) return { text: 'In short.' };
        return turn > 8 ? { text: 'Done.' } : { calls: [call('look')] };
      });
      const log = toolLog(() => ok('a long page '.repeat(100)));
      const here = scene([], { ports: { model: script.model, tools: log.runner } });
      await runAgent({ ...here.run, contextTokens: 100_000, ...limits }, here.ports);
      return here.memory.steps().filter(({ kind }) => kind === 'summary').length;
    };
    expect(await summaries({ inputTokens: 90_000 })).toBe(0);
    expect(await summaries({ inputTokens: 2_500 })).toBeGreaterThan(0);
  });

  it('is summarised and sent again after an overflow', async () => {
    const script = scriptedModel((_turn, { tools: offered, messages }) => {
      if (offered.length === 0) return { text: 'In short.' };
      if (messages.length > 7) throw new ModelFailure('too_long', 'Too long.');
      return textOf(messages[0]).includes('In short.') ? { text: 'Done.' } : { calls: [call('look')] };
    });
    const here = scene([], { ports: { model: script.model } });
    expect(await runAgent(here.run, here.ports)).toMatchObject({ text: 'Done.' });
    expect(here.memory.steps().filter(({ kind }) => kind === 'summary')).toMatchObject([{ covers: 3 }]);
  });

  it('fails if a single message overflows it', async () => {
    const model = failingModel(new ModelFailure('too_long', 'Too long.'));
    const { ports, run } = scene([], { ports: { model } });
    expect(await runAgent(run, ports)).toEqual({ kind: 'failed', code: 'model_error', message: 'Too long.' });
  });
});

it('rejects two tools with one name', async () => {
  const { ports, run } = scene([]);
  await expect(runAgent({ ...run, tools: [tools.look, tools.look] }, ports)).rejects.toThrow('same name');
});

function failingModel(failure: ModelFailure): Ports['model'] {
  return {
    // biome-ignore lint/correctness/useYield: it fails before it says anything.
    async *stream() {
      throw failure;
    },
  };
}

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

function textOf(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  return message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}
