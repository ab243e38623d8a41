import { describe, expect, it } from 'vitest';
import { changedKeys, completeManifest, defaultManifest, type Manifest, usesOf } from './manifest.ts';

const lookup = {
  function: 'look_up',
  description: 'Looks an order up.',
  input: { order: 'string', day: 'string?' },
  timeout_s: 120,
  read_only: true,
  run_without_asking: false,
  approver: 'user' as const,
};

const of = (changes: Partial<Manifest>): Manifest => ({ ...defaultManifest, ...changes });

describe('changed keys', () => {
  it('are empty for a first version with explicit defaults', () => {
    expect(changedKeys(null, of({ approvals: ['payment', 'booking', 'cancellation'], model: 'default' }))).toEqual([]);
  });

  it('of a first version are those that differ from the defaults', () => {
    expect(changedKeys(null, of({ instructions: 'Be brief.', notebooks: [] }))).toEqual(['instructions']);
  });

  it('are those that differ from the previous version in a fixed order, also back to a default [VER-003]', () => {
    const before = of({ instructions: 'Be brief.', tools: [lookup], language: 'de' });
    const after = of({
      language: 'de',
      limits: { max_steps: 5, max_minutes: 60 },
      tools: [{ ...lookup, timeout_s: 5 }],
    });
    expect(changedKeys(before, after)).toEqual(['instructions', 'limits', 'tools']);
    expect(changedKeys(after, before)).toEqual(['instructions', 'limits', 'tools']);
  });

  it('ignore the order of keys, keys without a value and the sign of zero', () => {
    const before = of({ tools: [lookup], limits: { max_steps: 1, max_minutes: 2, ask_above_usd: 0 } });
    const { input: _, ...rest } = lookup;
    const after = of({
      tools: [{ input: { day: 'string?', order: 'string' }, ...rest }],
      limits: { ask_above_usd: -0, max_minutes: 2, max_steps: 1, per_task_usd: undefined },
    });
    expect(changedKeys(before, after)).toEqual([]);
  });

  it('include a list with another order', () => {
    expect(changedKeys(of({ apps: ['a', 'b'] }), of({ apps: ['b', 'a'] }))).toEqual(['apps']);
  });
});

describe('a manifest of an older release', () => {
  it('gets defaults for newer keys and keeps its values', () => {
    const { run_without_asking: _, read_only: __, approver: ___, ...older } = lookup;
    const lists = { deny: ['drop'], require_approval: [], run_without_asking: [] };
    const saved = {
      instructions: 'Be brief.',
      tools: [older],
      mcp_tool_policy: { shop: lists },
    } as unknown as Partial<Manifest>;
    expect(completeManifest(saved)).toEqual({
      ...defaultManifest,
      instructions: 'Be brief.',
      tools: [{ ...lookup, read_only: false, run_without_asking: false }],
      mcp_tool_policy: { shop: { ...lists, approver: 'user' } },
    });
  });
});

it('lists each server, company skill, notebook and file of a manifest once', () => {
  const manifest = of({
    mcp_servers: [{ id: 'mcp_1', slug: 'shop', url: 'https://shop.example/mcp' }],
    skills: [{ id: 'skl_1' }, { name: 'spreadsheets' }, { id: 'skl_1' }],
    notebooks: ['nb_1', 'nb_2'],
    environment: { repos: [], env: {}, files: [{ file_id: 'file_1', path: 'a.csv' }] },
  });
  expect(usesOf(manifest)).toEqual(['mcp_1', 'skl_1', 'nb_1', 'nb_2', 'file_1']);
  expect(usesOf(defaultManifest)).toEqual([]);
});
