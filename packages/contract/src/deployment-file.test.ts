import { describe, expect, it } from 'vitest';
import { deploymentFile } from './deployment-file.ts';
import { check } from './fault.ts';
import { entries, fileEdges, letters, times } from './limit-edges.fixture.ts';

describe('routines, tests and webhooks of the file', () => {
  const routine = (fields: object) => [{ ask: 'Say hello.', every: 'weekday at 08:00', ...fields }];
  fileEdges('routines', [
    ['50 routines', times(50, routine({})[0]), times(51, routine({})[0]), 'routines'],
    ['an ask of 8000', routine({ ask: letters(8000) }), routine({ ask: letters(8001) }), 'routines.0.ask'],
    ['an ask is required', routine({}), [{ every: 'day' }], 'routines.0.ask'],
    ['a name of 200', routine({ name: letters(200) }), routine({ name: letters(201) }), 'routines.0.name'],
    ['every of 100', routine({ every: letters(100) }), routine({ every: letters(101) }), 'routines.0.every'],
    ['cron of 120', routine({ cron: letters(120) }), routine({ cron: letters(121) }), 'routines.0.cron'],
    [
      'a time zone',
      routine({ timezone: 'Europe/Berlin' }),
      routine({ timezone: 'Mars/Base' }),
      'routines.0.timezone',
      'invalid_user_timezone',
    ],
    ['for one user', routine({ for: 'user:1' }), routine({ for: 'user 1' }), 'routines.0.for'],
    ['for 100 users', routine({ for: times(100, 'u') }), routine({ for: times(101, 'u') }), 'routines.0.for'],
    ['on a call', routine({ on: 'call' }), routine({ on: 'mail' }), 'routines.0.on'],
  ]);
  fileEdges('routines', [
    ['an ask of 1', routine({ ask: 'a' }), routine({ ask: '' }), 'routines.0.ask'],
    ['a name of 1', routine({ name: 'a' }), routine({ name: '' }), 'routines.0.name'],
    ['every of 1', routine({ every: 'a' }), routine({ every: '' }), 'routines.0.every'],
    ['cron of 1', routine({ cron: 'a' }), routine({ cron: '' }), 'routines.0.cron'],
    ['for at least one user', routine({ for: ['u'] }), routine({ for: [] }), 'routines.0.for'],
  ]);
  const scenario = (fields: object) => [{ name: 'Refund', ask: 'I want my money.', expect: 'It asks why.', ...fields }];
  fileEdges('tests', [
    ['a name of 120', scenario({ name: letters(120) }), scenario({ name: letters(121) }), 'tests.0.name'],
    ['an ask of 2000', scenario({ ask: letters(2000) }), scenario({ ask: letters(2001) }), 'tests.0.ask'],
    ['expect is required', scenario({}), [{ name: 'a', ask: 'b' }], 'tests.0.expect'],
    ['expect of 500', scenario({ expect: letters(500) }), scenario({ expect: letters(501) }), 'tests.0.expect'],
    ['12 lines', scenario({ expect: times(12, 'a') }), scenario({ expect: times(13, 'a') }), 'tests.0.expect'],
    ['never of 500', scenario({ never: letters(500) }), scenario({ never: letters(501) }), 'tests.0.never'],
    ['never of 12 lines', scenario({ never: times(12, 'a') }), scenario({ never: times(13, 'a') }), 'tests.0.never'],
    ['a user', scenario({ as: { user_id: 'a@b.c' } }), scenario({ as: { user_id: 'a b' } }), 'tests.0.as.user_id'],
    ['5 runs', scenario({ runs: 5 }), scenario({ runs: 6 }), 'tests.0.runs'],
    ['1 run', scenario({ runs: 1 }), scenario({ runs: 0 }), 'tests.0.runs'],
    ['approves', scenario({ approves: true }), scenario({ approves: 'yes' }), 'tests.0.approves'],
    [
      'a persona of 2000',
      scenario({ persona: letters(2000) }),
      scenario({ persona: letters(2001) }),
      'tests.0.persona',
    ],
    [
      '20 tool results',
      scenario({ tool_results: entries(20) }),
      scenario({ tool_results: entries(21) }),
      'tests.0.tool_results',
    ],
  ]);
  fileEdges('tests', [
    ['100 tests', times(100, scenario({})[0]), times(101, scenario({})[0]), 'tests'],
    ['a name of 1', scenario({ name: 'a' }), scenario({ name: '' }), 'tests.0.name'],
    ['an ask of 1', scenario({ ask: 'a' }), scenario({ ask: '' }), 'tests.0.ask'],
    ['a persona of 1', scenario({ persona: 'a' }), scenario({ persona: '' }), 'tests.0.persona'],
    ['never of 1', scenario({ never: 'a' }), scenario({ never: '' }), 'tests.0.never'],
  ]);
  const webhook = (fields: object) => [{ url: 'https://example.com/hook', events: '*', ...fields }];
  fileEdges('webhooks', [
    ['10 endpoints', times(10, webhook({})[0]), times(11, webhook({})[0]), 'webhooks'],
    [
      '40 events',
      webhook({ events: times(40, 'task.completed') }),
      webhook({ events: times(41, 'task.completed') }),
      'webhooks.0.events',
    ],
    ['at least one event', webhook({ events: ['*'] }), webhook({ events: [] }), 'webhooks.0.events'],
    [
      'a description of 500',
      webhook({ description: letters(500) }),
      webhook({ description: letters(501) }),
      'webhooks.0.description',
    ],
  ]);
});

describe('the faults of a file', () => {
  const faultOf = (fields: object) => {
    const checked = check(deploymentFile, { name: 'x', ...fields }, 'invalid_manifest');
    return checked.ok ? [] : checked.faults.map(({ param, message }) => [param, message]);
  };

  it.each([
    [{ limits: { per_task_usd: 'x' } }, 'limits.per_task_usd', 'Must be a number, not text.'],
    [{ limits: { per_task_usd: -1 } }, 'limits.per_task_usd', 'Must be at least 0.01.'],
    [{ instructions: ['a'] }, 'instructions', 'Must be text, not a list.'],
    [{ memory: 'much' }, 'memory', 'Must be one of `vestra`, `customer`, `none`.'],
    [{ tests: {} }, 'tests', 'Must be a list, not an object.'],
    [{ tools: [{ function: 'a', description: 'A.', timeout_s: 5.5 }] }, 'tools.0.timeout_s', 'Must be a whole number.'],
    [
      { tools: [{ function: 'a', description: 'A.', read_only: 'yes' }] },
      'tools.0.read_only',
      'Must be `true` or `false`, not text.',
    ],
    [{ tools: [{ function: 'a' }] }, 'tools.0.description', 'This field is required.'],
  ])('of %j are plain sentences', (fields, param, message) => {
    expect(faultOf(fields)).toEqual([[param, message]]);
  });

  it('name both forms of a tool if an entry is of none or of both [PLAN-708]', () => {
    const both = { mcp: 'https://example.com/mcp', function: 'a', description: 'A.' };
    const entries = [both, { mcp: both.mcp, function: 'a' }, { ...both, auth: 'x' }, { ...both, mcp: 5 }];
    for (const entry of entries) {
      expect(faultOf({ tools: [entry] })).toEqual([['tools.0', 'Write one of `mcp` and `function`, not both.']]);
    }
    const neither = 'Write an object with `mcp` for a server or `function` for a function.';
    for (const entry of [{}, { description: 'A.' }, null, 'a']) {
      expect(faultOf({ tools: [entry] })).toEqual([['tools.0', neither]]);
    }
    for (const id of ['x', 'skl_000000000000000000000000']) {
      expect(faultOf({ skills: [{ id, name: 'y' }] })).toEqual([
        ['skills.0', 'Write one of `id` and `name`, not both.'],
      ]);
    }
  });
});
