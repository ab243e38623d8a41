import { describe, expect, test } from 'vitest';
import { deploymentFile } from './deployment-file.ts';
import { check } from './fault.ts';
import { fileEdges, letters, times } from './limit-edges.fixture.ts';

describe('tools are MCP servers or functions', () => {
  const mcp = (fields: object) => [{ mcp: 'https://tools.example.com/mcp', ...fields }];
  const fn = (fields: object) => [{ function: 'find_order', description: 'Find an order.', ...fields }];

  fileEdges('tools', [
    ['50 tools', times(50, mcp({})[0]), times(51, mcp({})[0]), 'tools'],
    ['an entry is an object', mcp({}), ['https://tools.example.com'], 'tools.0'],
    [
      'a URL of 2048',
      mcp({ mcp: `https://example.com/${letters(2028)}` }),
      mcp({ mcp: `https://example.com/${letters(2029)}` }),
      'tools.0.mcp',
    ],
    ['a URL', mcp({}), mcp({ mcp: 'tools.example.com' }), 'tools.0.mcp'],
    ['a server name of 80', mcp({ name: letters(80) }), mcp({ name: letters(81) }), 'tools.0.name'],
    ['a server name of 1', mcp({ name: 'a' }), mcp({ name: '' }), 'tools.0.name'],
    [
      'a header name of 64',
      mcp({ headers: { [letters(64)]: 'x' } }),
      mcp({ headers: { [letters(65)]: 'x' } }),
      `tools.0.headers.${letters(65)}`,
    ],
    [
      'a header name without spaces',
      mcp({ headers: { 'X-Region': 'eu' } }),
      mcp({ headers: { 'X Region': 'eu' } }),
      'tools.0.headers.X Region',
    ],
    [
      'a header value of 2048',
      mcp({ headers: { A: letters(2048) } }),
      mcp({ headers: { A: letters(2049) } }),
      'tools.0.headers.A',
    ],
    ['a header value of 1', mcp({ headers: { A: 'x' } }), mcp({ headers: { A: '' } }), 'tools.0.headers.A'],
    [
      'a header value of one line',
      mcp({ headers: { A: 'x' } }),
      mcp({ headers: { A: 'x\r\nB: y' } }),
      'tools.0.headers.A',
    ],
    ['200 allowed', mcp({ allow: times(200, 'a') }), mcp({ allow: times(201, 'a') }), 'tools.0.allow'],
    [
      'every tool trusted',
      mcp({ run_without_asking: 'all' }),
      mcp({ run_without_asking: 'some' }),
      'tools.0.run_without_asking',
    ],
    ['200 denied', mcp({ deny: times(200, 'a') }), mcp({ deny: times(201, 'a') }), 'tools.0.deny'],
    [
      '200 to approve',
      mcp({ require_approval: times(200, 'a') }),
      mcp({ require_approval: times(201, 'a') }),
      'tools.0.require_approval',
    ],
    [
      '200 without asking',
      mcp({ run_without_asking: times(200, 'a') }),
      mcp({ run_without_asking: times(201, 'a') }),
      'tools.0.run_without_asking',
    ],
    ['a tool name of 128', mcp({ deny: [letters(128)] }), mcp({ deny: [letters(129)] }), 'tools.0.deny.0'],
    ['signs of a tool name', mcp({ deny: ['a_b.c-D1'] }), mcp({ deny: ['a', 'a b'] }), 'tools.0.deny.1'],
    [
      'auth is a reference',
      mcp({ auth: '${user_secret:CRM_KEY}' }),
      mcp({ auth: 'sk-live-123' }),
      'tools.0.auth',
      'raw_secret_in_header',
    ],
    [
      'a secret name of 64',
      mcp({ auth: `\${${'A'.repeat(64)}}` }),
      mcp({ auth: `\${${'A'.repeat(65)}}` }),
      'tools.0.auth',
      'raw_secret_in_header',
    ],
    ['no unknown field', mcp({}), mcp({ timeout: 3 }), 'tools.0.timeout'],
  ]);
  fileEdges('tools', [
    ['a function name of 64', fn({ function: letters(64) }), fn({ function: letters(65) }), 'tools.0.function'],
    ['a function starts with a letter', fn({ function: 'a_1' }), fn({ function: '1_a' }), 'tools.0.function'],
    ['a function in lowercase', fn({ function: 'find' }), fn({ function: 'Find' }), 'tools.0.function'],
    [
      'a function is no server tool',
      fn({ function: 'mcp_x' }),
      fn({ function: 'mcp__x' }),
      'tools.0.function',
      'tool_name_reserved',
    ],
    [
      'a description of 1024',
      fn({ description: letters(1024) }),
      fn({ description: letters(1025) }),
      'tools.0.description',
    ],
    ['a description of 1', fn({ description: 'a' }), fn({ description: '' }), 'tools.0.description'],
    ['a description is required', fn({}), [{ function: 'find' }], 'tools.0.description'],
    ['at least 5 seconds', fn({ timeout_s: 5 }), fn({ timeout_s: 4 }), 'tools.0.timeout_s'],
    ['at most 600 seconds', fn({ timeout_s: 600 }), fn({ timeout_s: 601 }), 'tools.0.timeout_s'],
    ['whole seconds', fn({ timeout_s: 6 }), fn({ timeout_s: 6.5 }), 'tools.0.timeout_s'],
    ['both flags', fn({ read_only: true, run_without_asking: true }), fn({ read_only: 'yes' }), 'tools.0.read_only'],
    [
      'shorthand types',
      fn({ input: { id: 'string', n: 'integer?', tags: 'string[]', more: 'number[]?' } }),
      fn({ input: { id: 'strin' } }),
      'tools.0.input',
      'invalid_tool_input',
    ],
    [
      'a JSON Schema of type object',
      fn({ input: { type: 'object', properties: {} } }),
      fn({ input: { type: 'array', items: {} } }),
      'tools.0.input',
      'invalid_tool_input',
    ],
    ['input is an object', fn({ input: {} }), fn({ input: ['id'] }), 'tools.0.input', 'invalid_tool_input'],
    [
      'an argument name of 64',
      fn({ input: { [letters(64)]: 'string' } }),
      fn({ input: { [letters(65)]: 'string' } }),
      'tools.0.input',
      'invalid_tool_input',
    ],
  ]);

  test('suggests the field for a misspelt one [TOOL-241]', () => {
    const messages = (tools: object[]) => {
      const read = check(deploymentFile, { name: 'shop', tools }, 'invalid_manifest');
      return read.ok ? [] : read.faults.map(({ message }) => message);
    };
    expect(messages(fn({ read_onlyy: true, timeout: 5 }))).toEqual([
      'Unknown field `read_onlyy`. Did you mean `read_only`?',
      'Unknown field `timeout`. Did you mean `timeout_s`?',
    ]);
    expect(messages(mcp({ aprover: 'org' }))).toEqual(['Unknown field `aprover`. Did you mean `approver`?']);
    expect(messages(mcp({ constructor_of: 1 }))).toEqual(['Unknown field `constructor_of`.']);
  });

  test('a function gets its defaults', () => {
    expect(deploymentFile.parse({ name: 'shop', tools: fn({}) }).tools).toEqual([
      { ...fn({})[0], input: {}, timeout_s: 120, read_only: false, run_without_asking: false, approver: 'user' },
    ]);
  });
});
