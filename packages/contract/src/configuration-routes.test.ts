import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deployments } from './deployments.ts';
import { edges, entries, idBody, letters, times } from './limit-edges.fixture.ts';
import { mcpServers } from './mcp-servers.ts';
import { notebooks } from './notebooks.ts';
import type { Route } from './route.ts';
import { scenarios } from './scenarios.ts';
import { secrets } from './secrets.ts';
import { skills } from './skills.ts';
import { testRuns } from './test-runs.ts';

describe('bodies of the configuration routes', () => {
  const scenario = { name: 'a', persona: 'b', goal: 'c', success_criteria: ['d'] };
  edges(scenarios.create.body, 'invalid_request', (fields) => ({ ...scenario, ...(fields as object) }), [
    ['a persona of 2000', { persona: letters(2000) }, { persona: letters(2001) }, 'persona'],
    ['12 criteria', { success_criteria: times(12, 'a') }, { success_criteria: times(13, 'a') }, 'success_criteria'],
    ['one criterion', { success_criteria: ['a'] }, { success_criteria: [] }, 'success_criteria'],
    ['12 nevers', { must_never: times(12, 'a') }, { must_never: times(13, 'a') }, 'must_never'],
    ['a line of 500', { must_never: [letters(500)] }, { must_never: [letters(501)] }, 'must_never.0'],
    ['20 tool results', { tool_results: entries(20) }, { tool_results: entries(21) }, 'tool_results'],
  ]);
  edges(scenarios.generate.body, 'invalid_request', (body) => body, [
    ['10 drafts', { count: 10 }, { count: 11 }, 'count'],
    ['1 draft', { count: 1 }, { count: 0 }, 'count'],
    ['version 1', { version: 1 }, { version: 0 }, 'version'],
  ]);
  edges(scenarios.update.body, 'invalid_request', (body) => body, [
    ['a changed name of 120', { name: letters(120) }, { name: letters(121) }, 'name'],
    [
      'a changed line of 500',
      { success_criteria: [letters(500)] },
      { success_criteria: [letters(501)] },
      'success_criteria.0',
    ],
  ]);
  test('a change to a scenario adds no defaults', () => {
    expect(scenarios.update.body.parse({})).toEqual({});
  });
  edges(notebooks.create.body, 'invalid_request', (fields) => ({ name: 'a', slug: 'a', ...(fields as object) }), [
    ['a name of 80', { name: letters(80) }, { name: letters(81) }, 'name'],
    ['a name of 1', { name: 'a' }, { name: '' }, 'name'],
    [
      'at least one reader',
      { access: { mode: 'users', user_ids: ['u'] } },
      { access: { mode: 'users', user_ids: [] } },
      'access.user_ids',
    ],
    ['a slug of 40', { slug: letters(40) }, { slug: letters(41) }, 'slug'],
    ['a slug starts with a letter', { slug: 'a1' }, { slug: '1a' }, 'slug'],
    ['a description of 300', { description: letters(300) }, { description: letters(301) }, 'description'],
    [
      '1000 readers',
      { access: { mode: 'users', user_ids: times(1000, 'u') } },
      { access: { mode: 'users', user_ids: times(1001, 'u') } },
      'access.user_ids',
    ],
    ['a known access', { access: { mode: 'all' } }, { access: { mode: 'some' } }, 'access.mode'],
  ]);
  edges(
    notebooks.createDocument.body,
    'invalid_request',
    (fields) => ({ title: 'a', text: 'b', ...(fields as object) }),
    [
      ['a title of 200', { title: letters(200) }, { title: letters(201) }, 'title'],
      ['a title of 1', { title: 'a' }, { title: '' }, 'title'],
      ['a text of 1', { text: 'a' }, { text: '' }, 'text'],
    ],
  );
  edges(notebooks.update.body, 'invalid_request', (body) => body, [
    ['a changed name of 80', { name: letters(80) }, { name: letters(81) }, 'name'],
    ['a changed name of 1', { name: 'a' }, { name: '' }, 'name'],
    ['a changed description of 300', { description: letters(300) }, { description: letters(301) }, 'description'],
  ]);
  const skillFile = { path: 'SKILL.md', content: '' };
  edges(skills.create.body, 'invalid_skill', (files) => ({ files }), [
    ['200 files', times(200, skillFile), times(201, skillFile), 'files'],
    ['one file', [skillFile], [], 'files'],
    ['a path of 200', [{ ...skillFile, path: letters(200) }], [{ ...skillFile, path: letters(201) }], 'files.0.path'],
    ['a path inside', [{ ...skillFile, path: 'a/..b/c.md' }], [{ ...skillFile, path: 'a/../c.md' }], 'files.0.path'],
    ['a relative path', [skillFile], [{ ...skillFile, path: '/SKILL.md' }], 'files.0.path'],
  ]);
  const server = { name: 'a', slug: 'a', url: 'https://example.com' };
  edges(mcpServers.create.body, 'invalid_request', (fields) => ({ ...server, ...(fields as object) }), [
    ['a name of 80', { name: letters(80) }, { name: letters(81) }, 'name'],
    ['a slug of 40', { slug: letters(40) }, { slug: letters(41) }, 'slug'],
    ['a name of 1', { name: 'a' }, { name: '' }, 'name'],
    ['200 denied', { tools: { deny: times(200, 'a') } }, { tools: { deny: times(201, 'a') } }, 'tools.deny'],
    ['auth by headers', { auth: { type: 'headers', headers: {} } }, { auth: { type: 'basic' } }, 'auth.type'],
  ]);
  edges(mcpServers.update.body, 'invalid_request', (body) => body, [
    ['a changed name of 80', { name: letters(80) }, { name: letters(81) }, 'name'],
    ['a changed name of 1', { name: 'a' }, { name: '' }, 'name'],
  ]);
  test('a change to a server omits the omitted list', () => {
    expect(mcpServers.update.body.parse({ tools: { deny: ['a'] } })).toEqual({ tools: { deny: ['a'] } });
  });
  edges(secrets.put.body, 'invalid_request', (fields) => ({ value: 'a', ...(fields as object) }), [
    ['a value of 8192', { value: letters(8192) }, { value: letters(8193) }, 'value'],
    ['a value of 1', { value: 'a' }, { value: '' }, 'value'],
    ['a user id of 128', { user_id: letters(128) }, { user_id: letters(129) }, 'user_id'],
  ]);
  edges(deployments.promote.body, 'invalid_request', (body) => body, [
    ['version 1', { version: 1 }, { version: 0 }, 'version'],
    ['a known moment', { when: 'after_tests' }, { when: 'later' }, 'when'],
  ]);
  const conversation = `conv_${idBody}`;
  edges(deployments.interview.body, 'describe_or_answer', (body) => body, [
    ['begins', { deployment: 'shop', describe: 'Sell.' }, { deployment: 'shop' }, ''],
    ['goes on', { conversation, answer: 'Yes.' }, { conversation }, ''],
    ['not both', { conversation, answer: 'Yes.' }, { conversation, answer: 'Yes.', describe: 'Sell.' }, ''],
  ]);
  edges(
    deployments.interview.body,
    'invalid_request',
    (fields) => ({ deployment: 'shop', describe: 'Sell.', ...(fields as object) }),
    [
      ['a deployment of 120', { deployment: letters(120) }, { deployment: letters(121) }, 'deployment'],
      ['a deployment of 1', { deployment: 'a' }, { deployment: '' }, 'deployment'],
      ['a description of 8000', { describe: letters(8000) }, { describe: letters(8001) }, 'describe'],
      ['a description of 1', { describe: 'a' }, { describe: '' }, 'describe'],
    ],
  );
  edges(
    deployments.interview.body,
    'invalid_request',
    (fields) => ({ conversation, answer: 'Yes.', ...(fields as object) }),
    [
      ['an answer of 8000', { answer: letters(8000) }, { answer: letters(8001) }, 'answer'],
      ['an answer of 1', { answer: 'a' }, { answer: '' }, 'answer'],
      ['a conversation id', { conversation }, { conversation: 'conv_1' }, 'conversation', 'invalid_conversation_id'],
    ],
  );
});

describe('path parameters', () => {
  edges(deployments.get.params, 'invalid_deployment_id', (deployment_id) => ({ deployment_id }), [
    ['a name of 120', '😀'.repeat(120), '😀'.repeat(121), 'deployment_id'],
    ['an id', `dep_${idBody}`, 'dep_1', 'deployment_id'],
  ]);
  edges(secrets.put.params, 'invalid_secret_name', (name) => ({ name }), [
    ['a name of 64', 'A'.repeat(64), 'A'.repeat(65), 'name'],
    ['a capital first', 'A_1', '_A1', 'name'],
  ]);
  const inShop = (rest: object) => ({ deployment_id: 'shop', ...rest });
  edges(deployments.getVersion.params, 'version_not_found', (version) => inShop({ version }), [
    ['a version', '12', '0', 'version'],
  ]);
  edges(scenarios.get.params, 'scenario_not_found', (scenario_id) => inShop({ scenario_id }), [
    ['an id', `scn_${idBody}`, 'scn_', 'scenario_id'],
  ]);
});

test('every schema of these routes converts to JSON Schema', () => {
  const families = { deployments, scenarios, testRuns, notebooks, skills, mcpServers, secrets };
  const rows = Object.values(families).flatMap((family) => Object.values(family) as Route[]);
  expect(rows).toHaveLength(52);
  const write = (schema: z.ZodType, io: 'input' | 'output') =>
    z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' });
  for (const row of rows) {
    for (const schema of [row.params, row.query, row.body])
      if (schema) expect(write(schema, 'input').type).toBe('object');
    expect(write(row.response, 'output').type).toBe('object');
  }
  expect(write(deployments.put.body, 'input')).toMatchObject({
    required: ['name'],
    additionalProperties: false,
    properties: { instructions: { maxLength: 8000, default: '' }, tools: { maxItems: 50 } },
  });
});
