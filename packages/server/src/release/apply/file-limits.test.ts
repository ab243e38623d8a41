import type { ErrorCode } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Org, startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;

beforeAll(async () => {
  server = await startApply();
  org = await server.newOrg();
  for (const name of ['KEY', 'A'.repeat(64)]) await org.storeSecret(name);
});

afterAll(() => server.stop());

/** Applies a file with these fields and returns its version. */
async function takes(fields: object): Promise<{ manifest: Record<string, unknown> }> {
  const { status, body, text } = await org.put({ name: 'limits', ...fields }, { promote: 'no' });
  expect(status, text).toBe(200);
  return body.version;
}

async function refuses(fields: object, param: string, code: ErrorCode = 'invalid_manifest'): Promise<void> {
  expect(faultsOf(await org.put({ name: 'limits', ...fields }, { path: 'limits', promote: 'no' }))).toEqual([
    [code, param],
  ]);
}

const letters = (count: number) => 'a'.repeat(count);
const times = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
const call = (fields: object = {}) => ({ function: 'find_order', description: 'Find an order.', ...fields });
const mcp = (fields: object = {}) => ({ mcp: 'https://tools.example.com/mcp', ...fields });
const test = (fields: object = {}) => ({ name: 'Refund', ask: 'I want my money.', expect: 'It asks why.', ...fields });
const routine = (fields: object = {}) => ({ ask: 'Report.', every: 'day at 08:00', ...fields });
const webhook = (fields: object = {}) => ({ url: 'https://hooks.example.com/in', events: '*', ...fields });
const repo = (fields: object = {}) => ({ computer: { repos: [{ url: 'github.com/a/b', ...fields }] } });

describe('plain fields', () => {
  it('`$schema` of 500, which is ignored [DFILE-001]', async () => {
    expect((await takes({ $schema: letters(500) })).manifest).not.toHaveProperty('$schema');
    await refuses({ $schema: letters(501) }, '$schema');
  });

  it('a name of lowercase letters, digits and dashes, at most 63 [DFILE-002]', async () => {
    for (const name of [letters(63), 'a', '1-a']) expect((await org.put({ name }, { promote: 'no' })).status).toBe(200);
    for (const name of [letters(64), '', '-a', 'a-', 'A', 'a_b', undefined, 5]) {
      expect(faultsOf(await org.put({ name }, { path: 'limits' }))).toEqual([['invalid_manifest', 'name']]);
    }
  });

  it('instructions of 8000, empty when absent [DFILE-004]', async () => {
    await takes({ instructions: '😀'.repeat(8000) });
    expect((await takes({})).manifest.instructions).toBe('');
    await refuses({ instructions: letters(8001) }, 'instructions');
  });

  it('a language tag or `auto`, which is meant when absent [DFILE-005, DFILE-006]', async () => {
    for (const language of ['en', 'hi', 'pt-BR', 'auto', 'zh-Hant-TW']) await takes({ language });
    expect((await takes({})).manifest.language).toBe('auto');
    for (const language of ['', 'english', 'pt_BR', 5, `en-${letters(40)}`]) {
      await refuses({ language }, 'language', 'invalid_language');
    }
  });

  it('a model that is listed, or `default` [DFILE-007, DFILE-045]', async () => {
    await takes({ model: 'offline' });
    expect((await takes({})).manifest.model).toBe('default');
    for (const model of ['', letters(101), 'gpt-none', letters(100)]) await refuses({ model }, 'model');
  });

  it('`all` apps, or at most 200 [DFILE-008]', async () => {
    expect((await takes({})).manifest.apps).toBe('all');
    await takes({ apps: [...times(199, (at) => `a${at}`), letters(64)] });
    await refuses({ apps: times(201, () => 'a') }, 'apps');
    await refuses({ apps: ['a', letters(65)] }, 'apps.1');
    await refuses({ apps: [''] }, 'apps.0');
  });

  it('at most 6 approvals of those that there are [DFILE-015, DFILE-016]', async () => {
    await takes({ approvals: ['payment', 'booking', 'cancellation', 'send_email', 'publish', 'delete'] });
    expect((await takes({})).manifest.approvals).toEqual(['payment', 'booking', 'cancellation']);
    await refuses({ approvals: ['payment', 'sing'] }, 'approvals.1');
    await refuses({ approvals: times(7, () => 'payment') }, 'approvals');
  });

  it('`vestra`, `customer` or `none` for memory, else as the org has it [DFILE-017]', async () => {
    for (const memory of ['vestra', 'none']) expect((await takes({ memory })).manifest.memory).toBe(memory);
    expect((await takes({})).manifest.memory).toBeNull();
    await refuses({ memory: 'theirs' }, 'memory');
  });

  it('no key that there is not [DFILE-024, MAN-015]', async () => {
    await refuses({ colour: 'red' }, 'colour');
    await refuses({ mcp_servers: [] }, 'mcp_servers');
  });

  it('limits of a task and a turn [DFILE-038, DFILE-039, DFILE-040]', async () => {
    await takes({
      limits: { per_task_usd: 0.01, per_turn_usd: 1000, max_steps: 500, max_minutes: 240, ask_above_usd: 0 },
    });
    expect((await takes({})).manifest.limits).toEqual({ max_steps: 100, max_minutes: 60 });
    for (const [limit, value] of Object.entries({
      per_task_usd: 0,
      per_turn_usd: 1001,
      max_steps: 0,
      max_minutes: 241,
    })) {
      await refuses({ limits: { [limit]: value } }, `limits.${limit}`);
    }
  });

  it('domains and paths of the browser [DFILE-018, DFILE-020]', async () => {
    await takes({
      browser: { allowed_domains: times(20, (at) => `a${at}.example.com`), blocked_paths: ['a.example/b'] },
    });
    for (const host of ['https://a.example', 'a.example:80', 'a.example/b']) {
      await refuses({ browser: { allowed_domains: [host] } }, 'browser.allowed_domains.0');
    }
    await refuses({ browser: { allowed_domains: [] } }, 'browser.allowed_domains');
    await refuses({ browser: { blocked_paths: times(21, () => 'a.example/b') } }, 'browser.blocked_paths');
    await refuses({ browser: { blocked_paths: ['/b'] } }, 'browser.blocked_paths.0');
  });
});

describe('skills and knowledge', () => {
  it('local folders and files are read by the CLI and the SDKs alone [DFILE-010, DFILE-013, APPLY-014]', async () => {
    for (const key of ['skills', 'knowledge']) {
      await refuses({ [key]: letters(500) }, key, 'path_not_resolved');
      await refuses({ [key]: ['./a'] }, `${key}.0`, 'path_not_resolved');
      for (const wrong of [letters(501), '']) await refuses({ [key]: wrong }, key);
    }
  });

  it('at most 100 skills by id or name [DFILE-011, DFILE-012]', async () => {
    const id = await org.addSkill('limits');
    const others = await Promise.all(times(98, (at) => org.addSkill(`limit-${at}`)));
    await takes({ skills: [...[id, ...others].map((each) => ({ id: each })), { name: 'spreadsheets' }] });
    await refuses({ skills: times(101, () => ({ id })) }, 'skills');
    await refuses({ skills: [{ id: newId('nb') }] }, 'skills.0.id');
    for (const name of ['-a', 'A', letters(65)]) await refuses({ skills: [{ name }] }, 'skills.0.name');
  });

  it('at most 50 notebooks [DFILE-014]', async () => {
    const notebook = await org.addNotebook('limits');
    expect((await takes({ knowledge: [{ notebook }] })).manifest.notebooks).toEqual([notebook]);
    await refuses({ knowledge: times(51, () => ({ notebook })) }, 'knowledge');
    await refuses({ knowledge: [{ notebook: newId('skl') }] }, 'knowledge.0.notebook');
  });
});

describe('the computer', () => {
  it('a setup of 20000 and 10 repos [DFILE-025, DFILE-026]', async () => {
    await takes({ computer: { setup: letters(20_000), repos: times(10, (at) => `github.com/a/b${at}`) } });
    await refuses({ computer: { setup: letters(20_001) } }, 'computer.setup');
    await refuses({ computer: { repos: times(11, (at) => `github.com/a/b${at}`) } }, 'computer.repos');
  });

  it('a repo as host, owner and name, as its URL, or with what differs from main [DFILE-027, DFILE-028, DFILE-029, DFILE-031]', async () => {
    await takes({ computer: { repos: ['github.com/a/b', 'https://github.com/a/b'] } });
    await takes(repo({ ref: letters(200), path: letters(200), token: '${KEY}' }));
    expect((await org.put({ name: 'limits', ...repo() }, { promote: 'no' })).status).toBe(200);
    expect((await org.put({ name: 'limits', ...repo({ ref: 'main', path: 'b' }) })).body.changed).toEqual([]);
    await refuses({ computer: { repos: ['b'] } }, 'computer.repos.0', 'invalid_repo');
    await refuses({ computer: { repos: [{ ref: 'main' }] } }, 'computer.repos.0.url', 'invalid_repo');
    for (const field of ['ref', 'path']) await refuses(repo({ [field]: letters(201) }), `computer.repos.0.${field}`);
  });

  it('a token by reference to a company secret [DFILE-030, DFILE-046]', async () => {
    await takes(repo({ token: '${secret:KEY}' }));
    for (const token of ['ghp_123', '${user_secret:KEY}']) {
      await refuses(repo({ token }), 'computer.repos.0.token', 'raw_secret_in_header');
    }
  });

  it('variables of text [DFILE-032]', async () => {
    await takes({ computer: { env: { A: 'b', KEY: '${KEY}' } } });
    await refuses({ computer: { env: { A: 5 } } }, 'computer.env.A');
  });

  it('at most 50 files with a path [DFILE-033]', async () => {
    const file_id = await org.addFile();
    await takes({ computer: { files: times(50, (at) => ({ file_id, path: `${at}` })) } });
    await refuses({ computer: { files: times(51, () => ({ file_id, path: 'a' })) } }, 'computer.files');
    await refuses({ computer: { files: [{ file_id }] } }, 'computer.files.0.path');
    await refuses({ computer: { files: [{ path: 'a' }] } }, 'computer.files.0.file_id');
    await refuses({ computer: { files: [{ file_id, path: letters(201) }] } }, 'computer.files.0.path');
  });
});

describe('routines, tests and webhooks', () => {
  it('at most 50 routines, each with an ask [DFILE-022, DFILE-035]', async () => {
    await takes({ routines: times(50, (at) => routine({ name: `${at}`, ask: letters(8000) })) });
    await refuses({ routines: times(51, (at) => routine({ name: `${at}` })) }, 'routines');
    await refuses({ routines: [{ every: 'day at 08:00' }] }, 'routines.0.ask');
    await refuses({ routines: [routine({ ask: letters(8001) })] }, 'routines.0.ask');
  });

  it('on a schedule in plain words or as cron, or on a call, for whom it says [DFILE-036, DFILE-043, DFILE-044]', async () => {
    await takes({
      routines: [
        routine({ name: 'a', for: 'ann' }),
        routine({ name: 'b', for: times(100, (at) => `user-${at}`) }),
        { name: 'c', ask: 'Report.', cron: '0 8 * * 1', timezone: 'Europe/Berlin', enabled: false },
        { name: 'd', ask: 'Report.', on: 'call', filters: { kind: 'refund' } },
      ],
    });
    await refuses({ routines: [routine({ for: times(101, (at) => `user-${at}`) })] }, 'routines.0.for');
  });

  it('tests with name, ask and expect, and the limits of scenarios [DFILE-023, DFILE-048, DFILE-141]', async () => {
    const most = {
      expect: times(12, () => letters(500)),
      never: letters(500),
      persona: letters(2000),
      ask: letters(2000),
    };
    await takes({ tools: [call()], tests: [test({ ...most, tool_results: { find_order: { any: [1] } } })] });
    for (const field of ['name', 'ask', 'expect']) {
      await refuses({ tests: [test({ [field]: undefined })] }, `tests.0.${field}`);
    }
    await refuses({ tests: [test({ expect: times(13, () => 'a') })] }, 'tests.0.expect');
    const { expect: _, ...without } = test({});
    const { body } = await org.put({ name: 'limits', tests: [without] }, { path: 'limits', promote: 'no' });
    expect(body.error.errors).toMatchObject([{ param: 'tests.0.expect', message: 'This field is required.' }]);
    await refuses({ tests: [test({ persona: letters(2001) })] }, 'tests.0.persona');
  });

  it('at most 10 endpoints [DFILE-042]', async () => {
    const hooks = (count: number) =>
      times(count, (at) => webhook({ url: `https://hooks.example.com/${at}`, description: 'a' }));
    await takes({ webhooks: hooks(10) });
    await refuses({ webhooks: hooks(11) }, 'webhooks');
    await refuses({ webhooks: [webhook({ events: ['task.sung'] })] }, 'webhooks.0.events.0');
  });

  it('no two of one kind with one name [APPLY-030]', async () => {
    await refuses({ tools: [call(), call()] }, 'tools.1.function', 'duplicate_name');
    await refuses(
      { tools: [mcp({ name: 'a' }), mcp({ mcp: 'https://b.example', name: 'a' })] },
      'tools.1.name',
      'duplicate_name',
    );
    await refuses({ tests: [test(), test()] }, 'tests.1.name', 'duplicate_name');
    await refuses({ routines: [routine({ name: 'a' }), routine({ name: 'a' })] }, 'routines.1.name', 'duplicate_name');
  });
});

describe('tools', () => {
  it('at most 50, each a server or a function [DFILE-009]', async () => {
    await takes({ tools: [mcp(), ...times(49, (at) => call({ function: `f_${at}` }))] });
    await refuses({ tools: times(51, (at) => call({ function: `f_${at}` })) }, 'tools');
    await refuses({ tools: [{}] }, 'tools.0');
  });

  it('a server by a public https URL of 2048 [TOOL-001]', async () => {
    const long = (length: number) => `https://example.com/${letters(length - 20)}`;
    await takes({ tools: [mcp({ mcp: long(2048) })] });
    for (const url of [long(2049), 'tools.example.com', 'http://tools.example.com', 'https://127.0.0.1/', null]) {
      await refuses({ tools: [{ mcp: url }] }, 'tools.0.mcp');
    }
  });

  it('`auth` as one reference [TOOL-003, TOOL-026]', async () => {
    for (const auth of ['${KEY}', '${secret:KEY}', '${user_secret:MINE}', `\${${'A'.repeat(64)}}`]) {
      await takes({ tools: [mcp({ auth })] });
    }
    for (const auth of ['sk-123', 'Bearer ${KEY}', '${key}', `\${${'A'.repeat(65)}}`]) {
      await refuses({ tools: [mcp({ auth })] }, 'tools.0.auth', 'raw_secret_in_header');
    }
  });

  it('headers by names of 64 and values of 2048 [TOOL-005]', async () => {
    await takes({ tools: [mcp({ headers: { [letters(64)]: letters(2048), B: '${KEY} ${user_secret:MINE}' } })] });
    await refuses({ tools: [mcp({ headers: { [letters(65)]: 'a' } })] }, `tools.0.headers.${letters(65)}`);
    await refuses({ tools: [mcp({ headers: { 'a b': 'a' } })] }, 'tools.0.headers.a b');
    for (const value of ['', letters(2049)])
      await refuses({ tools: [mcp({ headers: { A: value } })] }, 'tools.0.headers.A');
  });

  it('either `auth` or an Authorization header, in whatever case [TOOL-009]', async () => {
    for (const name of ['Authorization', 'authorization', 'AUTHORIZATION']) {
      await refuses({ tools: [mcp({ auth: '${KEY}', headers: { [name]: '${KEY}' } })] }, 'tools.0.auth', 'auth_twice');
    }
  });

  it('lists of at most 200 tool names [TOOL-007, TOOL-008]', async () => {
    for (const list of ['deny', 'require_approval', 'run_without_asking']) {
      await takes({ tools: [mcp({ [list]: [...times(199, (at) => `tool_${at}`), `A.b-${letters(124)}`] })] });
      await refuses({ tools: [mcp({ [list]: times(201, () => 'a') })] }, `tools.0.${list}`);
      for (const name of ['', 'a b', letters(129)])
        await refuses({ tools: [mcp({ [list]: [name] })] }, `tools.0.${list}.0`);
    }
  });

  it('a function by a name of 64 and a description of 1024 [TOOL-013, TOOL-016, TOOL-025]', async () => {
    await takes({ tools: [call({ function: letters(64), description: letters(1024) })] });
    for (const name of [letters(65), '1a', 'A', 'a-b', ''])
      await refuses({ tools: [call({ function: name })] }, 'tools.0.function');
    for (const description of ['', letters(1025), undefined]) {
      await refuses({ tools: [call({ description })] }, 'tools.0.description');
    }
    await refuses({ tools: [call({ function: 'mcp__a' })] }, 'tools.0.function', 'tool_name_reserved');
  });

  it('its time and its flags, each with a default [TOOL-021, TOOL-022]', async () => {
    await takes({ tools: [call({ timeout_s: 5, read_only: true, run_without_asking: true })] });
    expect((await takes({ tools: [call()] })).manifest.tools).toEqual([
      call({ input: {}, timeout_s: 120, read_only: false, run_without_asking: false, approver: 'user' }),
    ]);
    for (const timeout_s of [4, 601, 5.5]) await refuses({ tools: [call({ timeout_s })] }, 'tools.0.timeout_s');
    for (const flag of ['read_only', 'run_without_asking'])
      await refuses({ tools: [call({ [flag]: 'yes' })] }, `tools.0.${flag}`);
  });

  it('who says yes: the user or the org, and not where nobody is asked [TOOL-240]', async () => {
    const { manifest } = await takes({ tools: [call({ approver: 'org' }), mcp({ approver: 'org' })] });
    expect(manifest.tools).toMatchObject([{ approver: 'org' }]);
    expect(Object.values(manifest.mcp_tool_policy as object)).toMatchObject([{ deny: [], approver: 'org' }]);
    for (const approver of ['boss', 'ORG', null, ['org']]) {
      await refuses({ tools: [call({ approver })] }, 'tools.0.approver');
      await refuses({ tools: [mcp({ approver })] }, 'tools.0.approver');
    }
    for (const flag of ['read_only', 'run_without_asking']) {
      await refuses({ tools: [call({ approver: 'org', [flag]: true })] }, 'tools.0.approver');
      await takes({ tools: [call({ approver: 'user', [flag]: true })] });
    }
  });
});
