import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/adapters/mcp-client/mcp-server.fixture.ts';
import type { AgentServer } from '../support/agent.ts';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { type Run, scenario, startTestRuns } from './test-runs.fixture.ts';

let shop: Awaited<ReturnType<typeof serveMcp>>;
const called: string[] = [];
let server: AgentServer;
let runs: Awaited<ReturnType<typeof startTestRuns>>;
beforeAll(async () => {
  runs = await startTestRuns();
  server = runs.server;
});
afterAll(() => server.stop());

describe('tools in a test', () => {
  const functions = [
    { function: 'look', description: 'Looks.', input: { id: 'string' }, read_only: true },
    { function: 'note', description: 'Notes.', input: { id: 'string' }, run_without_asking: true },
    { function: 'change', description: 'Changes.', input: { id: 'string' } },
  ];
  const withShop = () => ({
    tools: [...functions, { mcp: shop.url, name: 'shop', require_approval: ['forced'], run_without_asking: ['free'] }],
  });
  beforeEach(async () => {
    called.length = 0;
    const readOnly = { annotations: { readOnlyHint: true } };
    const offered = [tool('read', readOnly), tool('forced', readOnly), tool('write'), tool('free')];
    shop = await serveMcp('2026', offered, {
      call: (which) => {
        called.push(which);
        return { content: [{ type: 'text', text: `${which} ran for real` }] };
      },
    });
  });
  /** Calls one tool after the other, and ends by telling what each answered. */
  const callAll = (wanted: readonly string[]) =>
    cast({
      agent: (request) => {
        const done = resultsIn(request);
        const next = wanted[done.length];
        if (next === undefined) return { text: done.join('\n') };
        const full = request.tools.find(({ name: each }) => each === next || each.endsWith(`__${next}`))?.name ?? next;
        return { calls: [{ name: full, arguments: { id: '17' } }] };
      },
    });
  const slugOfShop = async () => {
    const { body } = await server.call('GET', '/v1/mcp-servers');
    return body.data.find((each: { url: string }) => each.url === shop.url)?.slug as string;
  };
  const said = (run: Run) =>
    (run.results[0].transcript.at(-1).text as string).replace(/<\/?data-[^>]*>\n?/g, '').trim();

  it('answer their entry and reach nobody’s code; without an entry they answer an error [TRUN-008, TRUN-009]', async () => {
    await runs.deploy([scenario({ tool_results: { look: { day: 'Friday', items: [1] } } })], { tools: functions });
    server.script(callAll(['look', 'note']));
    const run = await runs.play();
    expect(said(run)).toContain('{"day":"Friday","items":[1]}');
    expect(said(run)).toContain('the scenario has no result for it');
    const open = await query(
      server.connectionString,
      `SELECT id FROM interactions WHERE type = 'tool_call' AND conversation_id = $1`,
      [run.results[0].conversation_id],
    );
    expect(open).toEqual([]);
  });

  it('of a server run for real only where they are marked read-only and wait for nobody [TRUN-010]', async () => {
    await runs.deploy([scenario({ approves: true })], withShop());
    server.script(callAll(['read', 'free', 'write', 'forced']));
    const run = await runs.play();
    expect(called).toEqual(['read']);
    expect(said(run)).toContain('read ran for real');
    expect(said(run).match(/no result for it/g)).toHaveLength(3);
  });

  it('of a server play their entry after the yes of the scenario [TRUN-011, TRUN-012]', async () => {
    await runs.deploy([], withShop());
    const slug = await slugOfShop();
    await runs.deploy(
      [scenario({ approves: true, tool_results: { [`${slug}.write`]: 'written', [`${slug}.read`]: 'read aloud' } })],
      withShop(),
    );
    server.script(callAll(['write', 'read', 'forced']));
    const run = await runs.play();
    expect(called).toEqual([]);
    expect(said(run)).toContain('written');
    expect(said(run)).toContain('read aloud');
    expect(said(run).match(/no result for it/g)).toHaveLength(1);
  });

  it.each([undefined, false])('of a server get a no where `approves` is %j [TRUN-013]', async (approves) => {
    await runs.deploy([], withShop());
    const slug = await slugOfShop();
    await runs.deploy(
      [scenario({ ...(approves !== undefined && { approves }), tool_results: { [`${slug}.write`]: 'written' } })],
      withShop(),
    );
    server.script(callAll(['write']));
    const run = await runs.play();
    expect(said(run)).toContain('The person said no.');
    expect([called, said(run).includes('written')]).toEqual([[], false]);
  });

  it('that wait for any other yes get a no, also with `approves: true` [TRUN-014]', async () => {
    await runs.deploy([scenario({ approves: true, tool_results: { change: 'changed' } })], { tools: functions });
    server.script(callAll(['change']));
    const run = await runs.play();
    expect(said(run)).toContain('The person said no.');
    expect(said(run)).not.toContain('changed');
  });

  it.each(['a reply', 'work'])(
    'do nothing for a hostile model in %s, whatever it calls and however often',
    async (where) => {
      await runs.deploy([scenario({ approves: true })], {
        ...withShop(),
        memory: 'vestra',
        limits: { max_steps: 500 },
      });
      const names = [
        ...['write', 'forced', 'free', 'change', 'note', 'save_output', 'remember', 'routines_add'],
        ...['run_command', 'write_file', 'browser_open', 'connect_app', 'mcp__other__write'],
      ];
      const given: Record<string, unknown> = {
        save_output: { filename: 'a.txt', content: 'x' },
        remember: { text: 'I like tea.' },
        routines_add: { ask: 'Say hello', every: 'monday at 09:00' },
        run_command: { command: 'touch here' },
        write_file: { path: 'here', content: 'x' },
      };
      let rounds = 0;
      server.script(
        cast({
          agent: ({ tools }) => {
            if (where === 'work' && tools.some(({ name: each }) => each === 'hand_off_to_work')) {
              return { calls: [{ name: 'hand_off_to_work', arguments: { title: 'Go', task: 'Do it all.' } }] };
            }
            if (++rounds > 4) return { text: 'Done.' };
            const all = [...tools.map(({ name: each }) => each), ...names];
            const wanted = all.filter((each) => names.some((known) => each === known || each.endsWith(`__${known}`)));
            return { calls: wanted.map((each) => ({ name: each, arguments: given[each] ?? { id: '1' } })) };
          },
        }),
      );
      const run = await runs.play();
      expect([run.status, rounds > 4]).toEqual(['passed', true]);
      expect(called).toEqual([]);
      for (const table of ['files', 'memories', 'routines', 'users', 'computers']) {
        const rows = await query(server.connectionString, `SELECT * FROM ${table} LIMIT 1`);
        expect([table, rows]).toEqual([table, []]);
      }
      const asked = await query(server.connectionString, `SELECT id FROM interactions WHERE type = 'tool_call'`);
      expect(asked).toEqual([]);
    },
  );

  it('that ask the person are answered by the pretend user, or declined', async () => {
    await runs.deploy([scenario()]);
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          const questions = ['Which size?', 'Which colour?'];
          const question = questions[done.length];
          return question === undefined
            ? { text: done.join(' | ') }
            : { calls: [{ name: 'ask_question', arguments: { question } }] };
        },
        user: (request) => (lastText(request).endsWith('Which size?') ? 'Size M.' : ''),
      }),
    );
    const run = await runs.play();
    expect(said(run)).toMatch(/^Size M\. \| The person said no\./);
  });

  it('remember what was said in this test, and nothing beyond it', async () => {
    await runs.deploy([scenario()], { memory: 'vestra' });
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          const steps = [
            { name: 'recall', arguments: { query: 'tea' } },
            { name: 'remember', arguments: { text: 'The user likes tea.' } },
            { name: 'recall', arguments: { query: 'tea' } },
          ];
          const step = steps[done.length];
          return step ? { calls: [step] } : { text: done.join(' | ') };
        },
      }),
    );
    for (const _ of [1, 2]) {
      expect(said(await runs.play())).toMatch(
        /^You remember nothing about this\.\s+\| Remembered\.\s+\| The user likes tea\.$/,
      );
    }
  });
});

describe('a routine that is asked for in a test', () => {
  it('is answered as if made and never scheduled, and no other test sees it [TRUN-015, TRUN-016]', async () => {
    await runs.deploy([
      scenario({ name: 'Adds', goal: 'Remind me every Monday.' }),
      scenario({ name: 'Lists', goal: 'What is scheduled?' }),
    ]);
    const add = { name: 'routines_add', arguments: { ask: 'Say hello', every: 'monday at 09:00' } };
    const list = { name: 'routines_list', arguments: {} };
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          const steps = lastText(request).startsWith('Remind') ? [add, list] : [list];
          const step = steps[done.length];
          return step ? { calls: [step] } : { text: done.join(' | ') };
        },
        user: ({ messages }) => (messages.filter(({ role }) => role === 'agent').length < 2 ? 'And now?' : ''),
      }),
    );
    const run = await runs.play();
    const texts = run.results.map(({ transcript }: Run) =>
      transcript.filter(({ role }: Run) => role === 'agent').map(({ text }: Run) => text),
    );
    expect(texts[0][0]).toMatch(/Scheduled\..*rtn_/s);
    expect(texts[0][1]).toContain('Say hello');
    expect(texts[1].join()).not.toContain('Say hello');
    expect(texts[1][0]).toContain('Nothing is scheduled.');
    expect(await query(server.connectionString, 'SELECT id FROM routines')).toEqual([]);
  });
});
