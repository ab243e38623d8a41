import { describe, expect, test } from 'vitest';
import { deploymentFile } from './deployment-file.ts';
import { deployments } from './deployments.ts';
import { check } from './fault.ts';
import { edges, fileEdges, idBody, letters, times } from './limit-edges.fixture.ts';
import { manifest } from './manifest.ts';

const skillId = `skl_${idBody}`;
const notebookId = `nb_${idBody}`;
const serverId = `mcp_${idBody}`;

describe('limits of each plain field of a deployment file', () => {
  edges(deploymentFile, 'invalid_manifest', (name) => ({ name }), [
    ['a name of 63', letters(63), letters(64), 'name'],
    ['a name of one', 'a', '', 'name'],
    ['a name ends with a letter or digit', 'a-1', 'a-', 'name'],
    ['a name starts with a letter or digit', '1-a', '-a', 'name'],
    ['a name is lowercase', 'shop', 'Shop', 'name'],
  ]);
  fileEdges('$schema', [['$schema of 500', letters(500), letters(501), '$schema']]);
  fileEdges('instructions', [
    ['8000 characters', letters(8000), letters(8001), 'instructions'],
    ['characters are code points', '😀'.repeat(8000), '😀'.repeat(8001), 'instructions'],
    ['instructions are text', '', 5, 'instructions'],
  ]);
  fileEdges('model', [
    ['a model of 100', letters(100), letters(101), 'model'],
    ['a model of 1', 'a', '', 'model'],
  ]);
  fileEdges('reasoning', [
    ['no reasoning', 'off', 'none', 'reasoning'],
    ['little', 'low', 'minimal', 'reasoning'],
    ['some', 'medium', 5, 'reasoning'],
    ['much', 'high', 'max', 'reasoning'],
    ['no boolean', 'off', false, 'reasoning'],
  ]);
  fileEdges('apps', [
    ['200 apps', times(200, 'mail'), times(201, 'mail'), 'apps'],
    ['an app of 64', [letters(64)], [letters(65)], 'apps.0'],
    ['an app of 1', ['a'], ['a', ''], 'apps.1'],
    ['the word all', 'all', 'some', 'apps'],
  ]);
  fileEdges('approvals', [
    ['6 approvals', times(6, 'payment'), times(7, 'payment'), 'approvals'],
    ['a known approval', ['delete', 'publish', 'send_email'], ['delete', 'sing'], 'approvals.1'],
  ]);
  fileEdges('memory', [['a memory mode', 'customer', 'theirs', 'memory']]);
});

describe('a bad language of any kind is invalid_language', () => {
  fileEdges('language', [
    ['auto', 'auto', 'AUTO', 'language', 'invalid_language'],
    ['two letters', 'hi', 'h', 'language', 'invalid_language'],
    ['a region', 'pt-BR', 'pt_BR', 'language', 'invalid_language'],
    ['a script and a region', 'zh-Hant-TW', 'zh-', 'language', 'invalid_language'],
    ['a word', 'deu', 'english', 'language', 'invalid_language'],
    ['no text at all', 'en', 7, 'language', 'invalid_language'],
    ['empty', 'en', '', 'language', 'invalid_language'],
    [
      '35 characters',
      `en-x-${times(3, letters(8)).join('-')}-${letters(3)}`,
      `en-x-${times(3, letters(8)).join('-')}-${letters(4)}`,
      'language',
      'invalid_language',
    ],
  ]);
});

describe('skills and knowledge refer to folders or stored objects', () => {
  fileEdges('skills', [
    ['a folder of 500', letters(500), letters(501), 'skills'],
    ['a folder of 1', 'a', '', 'skills'],
    ['100 skills', times(100, 'a'), times(101, 'a'), 'skills'],
    ['a skill id', [{ id: skillId }], [{ id: notebookId }], 'skills.0.id'],
    ['a built-in name of 64', [{ name: letters(64) }], [{ name: letters(65) }], 'skills.0.name'],
    ['a built-in name starts with a letter or digit', [{ name: '1-a' }], [{ name: '-a' }], 'skills.0.name'],
    ['a folder in a list', ['a', letters(500)], ['a', letters(501)], 'skills.1'],
  ]);
  fileEdges('knowledge', [
    ['a path of 500', letters(500), letters(501), 'knowledge'],
    ['50 entries', times(50, 'a'), times(51, 'a'), 'knowledge'],
    ['a notebook id', [{ notebook: notebookId }], [{ notebook: skillId }], 'knowledge.0.notebook'],
  ]);
});

describe('allowed domains and blocked paths of the browser', () => {
  fileEdges('browser', [
    [
      '20 domains',
      { allowed_domains: times(20, 'example.com') },
      { allowed_domains: times(21, 'example.com') },
      'browser.allowed_domains',
    ],
    ['at least one domain', { allowed_domains: ['example.com'] }, { allowed_domains: [] }, 'browser.allowed_domains'],
    [
      'a bare host',
      { allowed_domains: ['a.example.com'] },
      { allowed_domains: ['https://example.com'] },
      'browser.allowed_domains.0',
    ],
    [
      '20 paths',
      { blocked_paths: times(20, 'example.com/a') },
      { blocked_paths: times(21, 'example.com/a') },
      'browser.blocked_paths',
    ],
    [
      'a site and a path',
      { blocked_paths: ['example.com/account'] },
      { blocked_paths: ['/account'] },
      'browser.blocked_paths.0',
    ],
    ['at least one path', { blocked_paths: ['example.com/a'] }, { blocked_paths: [] }, 'browser.blocked_paths'],
    [
      'a label of 63',
      { allowed_domains: [`${letters(63)}.com`] },
      { allowed_domains: [`${letters(64)}.com`] },
      'browser.allowed_domains.0',
    ],
  ]);
});

describe('limits of a task', () => {
  fileEdges('limits', [
    ['per task at most', { per_task_usd: 1000 }, { per_task_usd: 1000.01 }, 'limits.per_task_usd'],
    ['per task at least', { per_task_usd: 0.01 }, { per_task_usd: 0 }, 'limits.per_task_usd'],
    ['per turn at most', { per_turn_usd: 1000 }, { per_turn_usd: 1001 }, 'limits.per_turn_usd'],
    ['per turn at least', { per_turn_usd: 0.01 }, { per_turn_usd: 0.009 }, 'limits.per_turn_usd'],
    ['500 steps', { max_steps: 500 }, { max_steps: 501 }, 'limits.max_steps'],
    ['one step', { max_steps: 1 }, { max_steps: 0 }, 'limits.max_steps'],
    ['240 minutes', { max_minutes: 240 }, { max_minutes: 241 }, 'limits.max_minutes'],
    ['one minute', { max_minutes: 1 }, { max_minutes: 0 }, 'limits.max_minutes'],
    ['asking above at most', { ask_above_usd: 1000 }, { ask_above_usd: 1001 }, 'limits.ask_above_usd'],
    ['asking above at least', { ask_above_usd: 0 }, { ask_above_usd: -1 }, 'limits.ask_above_usd'],
    ['no unknown limit', {}, { per_day_usd: 1 }, 'limits.per_day_usd'],
  ]);
});

describe('defaults', () => {
  test('a file needs only its name', () => {
    expect(deploymentFile.parse({ name: 'shop' })).toEqual({
      name: 'shop',
      instructions: '',
      language: 'auto',
      model: 'default',
      apps: 'all',
      approvals: ['payment', 'booking', 'cancellation'],
      limits: { max_steps: 100, max_minutes: 60 },
      tools: [],
      skills: [],
      knowledge: [],
      routines: [],
      tests: [],
      webhooks: [],
    });
    expect(check(deploymentFile, {}, 'invalid_request')).toMatchObject({
      faults: [{ code: 'invalid_manifest', param: 'name', message: 'This field is required.' }],
    });
  });

  test('a manifest has its fourteen keys with a default', () => {
    const whole = manifest.parse({});
    expect(Object.keys(whole).sort()).toEqual(
      'approvals apps browser environment instructions language limits mcp_servers mcp_tool_policy memory model notebooks skills tools'.split(
        ' ',
      ),
    );
    expect(whole).toMatchObject({ memory: null, environment: null, browser: null, mcp_servers: [], notebooks: [] });
    expect(manifest.parse(whole)).toEqual(whole);
  });
});

describe('a manifest within create', () => {
  const build = (key: string) => (value: unknown) => ({ name: 'Shop', manifest: { [key]: value } });
  const body = deployments.create.body;
  edges(body, 'invalid_manifest', build('instructions'), [
    ['8000', letters(8000), letters(8001), 'manifest.instructions'],
  ]);
  edges(body, 'invalid_manifest', build('language'), [['a tag', 'en', '??', 'manifest.language', 'invalid_language']]);
  edges(body, 'invalid_manifest', build('notebooks'), [
    ['50 notebooks', times(50, notebookId), times(51, notebookId), 'manifest.notebooks'],
    ['a notebook id', [notebookId], ['nb_1'], 'manifest.notebooks.0'],
  ]);
  edges(body, 'invalid_manifest', build('mcp_servers'), [
    ['a server by id', [{ id: serverId }], [{ id: 'mcp_1' }], 'manifest.mcp_servers.0.id'],
  ]);
  edges(body, 'invalid_manifest', build('mcp_tool_policy'), [
    [
      '200 denied',
      { crm: { deny: times(200, 'a') } },
      { crm: { deny: times(201, 'a') } },
      'manifest.mcp_tool_policy.crm.deny',
    ],
  ]);
  edges(body, 'invalid_manifest', build('environment'), [
    ['a repo', { repos: ['a.io/b/c'] }, { repos: ['b/c'] }, 'manifest.environment.repos.0', 'invalid_repo'],
  ]);
  edges(body, 'invalid_manifest', build('mcp_servers'), [
    ['50 servers', times(50, { id: serverId }), times(51, { id: serverId }), 'manifest.mcp_servers'],
  ]);
  edges(body, 'invalid_manifest', build('tools'), [
    [
      '50 tools',
      times(50, { function: 'a', description: 'b' }),
      times(51, { function: 'a', description: 'b' }),
      'manifest.tools',
    ],
  ]);
  edges(body, 'invalid_manifest', build('skills'), [
    ['100 skills', times(100, { id: skillId }), times(101, { id: skillId }), 'manifest.skills'],
  ]);
  edges(body, 'invalid_request', (fields) => ({ name: 'Shop', ...(fields as object) }), [
    ['a name of 120', { name: letters(120) }, { name: letters(121) }, 'name'],
    ['a name of 1', { name: 'a' }, { name: '' }, 'name'],
    ['a slug of 63', { slug: letters(63) }, { slug: letters(64) }, 'slug'],
    ['a description of 2000', { description: letters(2000) }, { description: letters(2001) }, 'description'],
    ['a note of 500', { note: letters(500) }, { note: letters(501) }, 'note'],
    [
      'an unknown manifest key',
      { manifest: {} },
      { manifest: { knowledge: [] } },
      'manifest.knowledge',
      'invalid_manifest',
    ],
    ['an unknown field', {}, { colour: 'red' }, 'colour'],
  ]);
});
