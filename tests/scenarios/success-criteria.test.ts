import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cast, lastText, partOf } from '../support/cast.ts';
import { startTill, sum, type Till } from './money.fixture.ts';

let till: Till;
beforeAll(async () => {
  till = await startTill();
  await till.apply({ name: 'desk', instructions: 'Be kind.', memory: 'none' });
});
afterAll(() => till.stop());

// 1.00 and 4.00 a million: 0.02 in, 0.04 out.
const sixCents = { inputTokens: 20_000, outputTokens: 10_000 };
const criteria = 'The report names all three harbours.';
const verdict = (met: boolean | null, reason: string): ScriptedAnswer => ({
  text: JSON.stringify({ criteria: [{ text: criteria, met, reason }], must_never: [] }),
  usage: sixCents,
});

/** The worker says “Draft 1”, “Draft 2” and so on, and the judge accepts the draft with this number. */
function draftUntil(accepted: number, other: (draft: number) => ScriptedAnswer | null = () => null): void {
  let drafts = 0;
  till.script(
    cast({
      agent: () => {
        drafts += 1;
        return other(drafts) ?? { text: `Draft ${drafts}.`, usage: sixCents };
      },
      judge: ({ transcript }) => {
        const draft = Number(/Agent: Draft (\d)/.exec(transcript)?.[1]);
        return draft >= accepted ? verdict(true, `“Draft ${draft}”`) : verdict(false, `Draft ${draft} misses Porto.`);
      },
    }),
  );
}

const rolesOf = () => till.asked.map(partOf);

async function work(more: Record<string, unknown> = {}) {
  const { body: made, status, text } = await till.say({ message: 'Report', success_criteria: criteria, ...more });
  expect([status, text.slice(0, 200)]).toEqual([201, expect.any(String)]);
  const turn = await till.settled(made);
  return (await till.call('GET', `/v1/tasks/${turn.task_id}`)).body;
}

const costsOf = async (task: { id: string }) => {
  const { body: trace } = await till.call('GET', `/v1/tasks/${task.id}/trace`);
  const items = await till.lineItems(`task_id=${task.id}`);
  return { trace, charged: sum(items) };
};

describe('success criteria', () => {
  it('make the message a task, and the agent that does it reads them as part of the message [CRIT-700, CRIT-701]', async () => {
    draftUntil(1);
    const task = await work();
    expect([task.status, task.outcome]).toEqual(['done', { met: true, reason: '“Draft 1”', rounds: 1 }]);
    const [first] = till.asked as [NormalisedRequest];
    const asked = lastText(first);
    expect(asked).toContain('Report');
    expect(asked).toContain(criteria);
    // Data is fenced; the caller's own words are not.
    expect(asked.slice(0, asked.indexOf(criteria))).not.toContain('<data-');
    expect(rolesOf()).toEqual(['agent', 'judge']);
  });

  it('send a result back with the reason until they are met, and every call is charged [CRIT-702, CRIT-703]', async () => {
    draftUntil(2);
    const task = await work();
    expect(task).toMatchObject({
      status: 'done',
      result: { text: 'Draft 2.', data: null },
      outcome: { met: true, reason: '“Draft 2”', rounds: 2 },
      cost_usd: 0.24,
    });
    expect(rolesOf()).toEqual(['agent', 'judge', 'agent', 'judge']);
    const second = JSON.stringify(till.asked[2]?.messages);
    expect(second).toContain('Draft 1.');
    expect(second).toMatch(/<data-[0-9a-f]+ of=\\"verdict\\">\\nDraft 1 misses Porto\./);
    const { trace, charged } = await costsOf(task);
    expect(trace.turns.map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'judged',
      'completed',
      'judged',
    ]);
    expect([trace.totals.cost_usd, charged]).toEqual([0.24, 0.24]);
    const { body: messages } = await till.call('GET', `/v1/conversations/${task.conversation_id}/messages`);
    expect(messages.data.filter(({ role }: { role: string }) => role === 'work')).toMatchObject([{ text: 'Draft 2.' }]);
  });

  it('end the task as done after two further rounds, with the last result and its verdict [CRIT-702]', async () => {
    draftUntil(9);
    const task = await work();
    expect(task).toMatchObject({
      status: 'done',
      result: { text: 'Draft 3.' },
      outcome: { met: false, reason: 'Draft 3 misses Porto.', rounds: 3 },
      cost_usd: 0.36,
    });
    expect(rolesOf()).toEqual(['agent', 'judge', 'agent', 'judge', 'agent', 'judge']);
  });

  it('let a further round use tools, and keep a schema [CRIT-702]', async () => {
    draftUntil(9);
    const schema = { type: 'object', properties: { draft: { type: 'integer' } }, required: ['draft'] };
    let answers = 0;
    till.script(
      cast({
        agent: ({ messages }) => {
          if (messages.at(-1)?.role === 'tool' || answers === 0) {
            answers += 1;
            return { text: JSON.stringify({ draft: answers }) };
          }
          // An answer that does not fit the schema, between two that were judged.
          if (JSON.stringify(messages).includes('does not fit')) {
            const steps = [{ content: 'Look again', status: 'completed' }];
            return { calls: [{ name: 'update_plan', arguments: { steps } }] };
          }
          return { text: 'Not JSON.' };
        },
        judge: ({ transcript }) => ({ holds: transcript.includes('"draft":2'), reason: 'See the draft.' }),
      }),
    );
    const task = await work({ output_schema: schema });
    expect(task).toMatchObject({
      status: 'done',
      result: { data: { draft: 2 } },
      progress: [{ content: 'Look again' }],
      outcome: { met: true, rounds: 2 },
    });
  });

  it.each<[string, object, (draft: number) => ScriptedAnswer | null, RegExp]>([
    ['max_steps', { max_steps: 1 }, () => null, /limit of 1 step/i],
    ['per_task_usd', { per_task_usd: 0.1 }, () => null, /0\.1/],
    ['a failing model', {}, (draft) => (draft > 1 ? { fail: 400 } : null), /model|400|refused/i],
  ])('leave the last result if %s prevents a further round [CRIT-704]', async (what, limits, other, message) => {
    const name = `limited-${what.replaceAll(/\W|_/g, '-')}`;
    await till.apply({ name, instructions: 'Be kind.', memory: 'none', limits });
    draftUntil(9, other);
    const task = await work({ deployment: name });
    expect(task).toMatchObject({ status: 'done', error: null, result: { text: 'Draft 1.' } });
    expect(task.outcome).toMatchObject({ met: false, rounds: 1 });
    expect(task.outcome.reason).toMatch(/^Draft 1 misses Porto\. There was no further round: /);
    expect(task.outcome.reason).toMatch(message);
    const { trace, charged } = await costsOf(task);
    expect([trace.totals.cost_usd, charged]).toEqual([task.cost_usd, task.cost_usd]);
    const types = (
      await till.call('GET', `/v1/conversations/${task.conversation_id}/events?format=json`)
    ).body.data.map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type.startsWith('task.'))).toEqual(['task.started', 'task.completed']);
  });

  it('leave the last result if a cap is reached [CRIT-704]', async () => {
    await till.call('POST', '/v1/users', { body: { user_id: 'capped' } });
    await till.call('PATCH', '/v1/users/capped', { body: { spend_cap_usd: 0.1 } });
    draftUntil(9);
    const task = await work({ user_id: 'capped' });
    expect(task).toMatchObject({ status: 'done', result: { text: 'Draft 1.' }, cost_usd: 0.12 });
    expect(task.outcome).toMatchObject({ met: false, rounds: 1 });
    expect(task.outcome.reason).toMatch(/daily cap/);
  });

  it('show no result and no verdict between two rounds, and a stop leaves the task stopped [CRIT-705]', async () => {
    draftUntil(9, (draft) => (draft > 1 ? { fail: 'hang' } : null));
    const { body: made } = await till.say({ message: 'Report', success_criteria: criteria });
    const second = () => till.asked.filter((request) => partOf(request) === 'agent').length;
    await expect.poll(second, { timeout: 30_000 }).toBe(2);
    const { body: list } = await till.call('GET', `/v1/tasks?conversation_id=${made.id}`);
    const path = `/v1/tasks/${list.data[0].id}`;
    expect((await till.call('GET', path)).body).toMatchObject({
      status: 'working',
      result: { text: null, data: null },
      outcome: null,
    });
    await till.call('POST', `/v1/conversations/${made.id}/stop`);
    const { body: task } = await till.call('GET', path);
    expect(task).toMatchObject({ status: 'failed', outcome: null, error: { code: 'stopped' } });
  });

  it('are not sent back for a verdict that the judge could not give [CRIT-702]', async () => {
    till.script(cast({ agent: () => ({ text: 'Draft 1.' }), judge: () => ({ text: 'Looks fine.' }) }));
    const task = await work();
    expect(task.outcome).toMatchObject({ met: false, rounds: 1 });
    expect(till.asked.filter((request) => partOf(request) === 'agent')).toHaveLength(1);
  });
});

describe('success criteria of unattended runs', () => {
  it('are judged for the items of a batch that have them [CRIT-706]', async () => {
    draftUntil(2);
    const items = [{ message: 'Report', success_criteria: criteria }, { message: 'Say hello' }];
    const { body: batch } = await till.call('POST', '/v1/batches', {
      body: { deployment: 'desk', items, concurrency: 1 },
    });
    await till.until(`/v1/batches/${batch.id}`, ({ status }) => status === 'completed');
    const { body: list } = await till.call('GET', `/v1/batches/${batch.id}/items`);
    expect(
      list.data.map(({ result }: { result: { text: string; outcome: unknown } }) => [result.text, result.outcome]),
    ).toEqual([
      ['Draft 2.', { met: true, reason: '“Draft 2”', rounds: 2 }],
      ['Draft 3.', null],
    ]);
    const { body: done } = await till.call('GET', `/v1/batches/${batch.id}`);
    expect(done.spend_usd).toBe(0.3);
    const stored = await till.sql('SELECT success_criteria FROM batch_items WHERE batch_id = $1', [batch.id]);
    expect(stored).toEqual([{ success_criteria: null }, { success_criteria: null }]);
    const bad = { items: [{ message: 'Hi', success_criteria: '' }] };
    const refused = await till.call('POST', '/v1/batches', { body: bad });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'items.0.success_criteria']);
  });

  it('are judged for every run of a routine, until they are removed [CRIT-707]', async () => {
    const body = { ask: 'Report', on: 'call', success_criteria: criteria, deployment: 'desk' };
    const { body: routine } = await till.call('POST', '/v1/routines', { body });
    expect(routine.success_criteria).toBe(criteria);
    const runIt = async () => {
      const { body: run } = await till.call('POST', `/v1/routines/${routine.id}/run`);
      await till.until(`/v1/conversations/${run.conversation_id}`, ({ status }) => status === 'idle');
      const { body: list } = await till.call('GET', `/v1/tasks?conversation_id=${run.conversation_id}`);
      return list.data;
    };
    draftUntil(2);
    expect(await runIt()).toMatchObject([{ status: 'done', outcome: { met: true, rounds: 2 } }]);
    const changed = await till.call('PATCH', `/v1/routines/${routine.id}`, { body: { success_criteria: null } });
    expect(changed.body.success_criteria).toBeNull();
    draftUntil(9);
    expect(await runIt()).toHaveLength(1);
  });

  it('are declared by the routines of a deployment file [CRIT-707]', async () => {
    const routines = [{ name: 'Harbours', ask: 'Report', on: 'call', success_criteria: criteria }];
    await till.apply({ name: 'filed', instructions: 'Be kind.', memory: 'none', routines });
    const declared = async () =>
      (await till.call('GET', '/v1/routines')).body.data.find(({ name }: { name: string }) => name === 'Harbours');
    expect((await declared()).success_criteria).toBe(criteria);
    const without = routines.map(({ success_criteria: _, ...rest }) => rest);
    await till.apply({ name: 'filed', instructions: 'Be kind.', memory: 'none', routines: without });
    expect((await declared()).success_criteria).toBeNull();
  });
});
