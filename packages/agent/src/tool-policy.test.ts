import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CalledTool, type Decision, decideToolCall } from './tool-policy.ts';

type ServerTool = Extract<CalledTool, { from: 'server' }>;
type Lists = Partial<
  Record<'deny' | 'require_approval' | 'allow', string[]> & { run_without_asking: string[] | 'all' }
>;

const empty = { deny: [], require_approval: [], run_without_asking: [] };

/** A call of the tool `pay`. */
const pay = (given: { floor?: Lists; policy?: Lists | null; isReadOnly?: boolean }): ServerTool => ({
  from: 'server',
  name: 'pay',
  floor: { ...empty, ...given.floor },
  policy: given.policy === null ? null : { ...empty, ...given.policy },
  isReadOnly: given.isReadOnly ?? false,
});

describe('a function of the caller', () => {
  it.each([
    [false, false, 'wait', 'may_change_something'],
    [true, false, 'run', 'read_only'],
    [false, true, 'run', 'run_without_asking'],
    [true, true, 'run', 'read_only'],
  ])('with read_only %s and run_without_asking %s: %s [WAIT-002, WAIT-003, WAIT-004]', (readOnly, free, kind, why) => {
    expect(decideToolCall({ from: 'function', read_only: readOnly, run_without_asking: free })).toEqual({ kind, why });
  });
});

describe('a tool of an MCP server', () => {
  const listed = ['other', 'pay'];

  it.each<[string, Parameters<typeof pay>[0], Decision]>([
    ['that nobody mentions', {}, { kind: 'wait', why: 'may_change_something' }],
    ['without a policy of the version', { policy: null }, { kind: 'wait', why: 'may_change_something' }],
    [
      'that only other names resemble',
      { policy: { run_without_asking: ['Pay', 'pay_all', 'pa'] } },
      { kind: 'wait', why: 'may_change_something' },
    ],
    ['marked read-only', { isReadOnly: true }, { kind: 'run', why: 'read_only' }],
    ['marked read-only, without a policy', { isReadOnly: true, policy: null }, { kind: 'run', why: 'read_only' }],
    ['that the version runs', { policy: { run_without_asking: listed } }, { kind: 'run', why: 'run_without_asking' }],
  ])(
    '%s waits unless it is marked read-only or listed as free [WAIT-005, WAIT-006, MCPS-723]',
    (_what, given, decision) => {
      expect(decideToolCall(pay(given))).toEqual(decision);
    },
  );

  it.each<[string, Parameters<typeof pay>[0], Decision]>([
    ['is allowed', { policy: { allow: listed }, isReadOnly: true }, { kind: 'run', why: 'read_only' }],
    ['is allowed and changes something', { policy: { allow: listed } }, { kind: 'wait', why: 'may_change_something' }],
    [
      'is not allowed',
      { policy: { allow: ['other'], run_without_asking: 'all' }, isReadOnly: true },
      { kind: 'refuse', why: 'version_denies' },
    ],
    ['is one of none that are allowed', { policy: { allow: [] } }, { kind: 'refuse', why: 'version_denies' }],
    ['is allowed and denied', { policy: { allow: listed, deny: listed } }, { kind: 'refuse', why: 'version_denies' }],
  ])('%s in `allow` [MCPS-721]', (_what, given, decision) => {
    expect(decideToolCall(pay(given))).toEqual(decision);
  });

  it.each<[string, Parameters<typeof pay>[0], Decision]>([
    ['runs', {}, { kind: 'run', why: 'run_without_asking' }],
    [
      'waits if the server requires it',
      { floor: { require_approval: listed } },
      { kind: 'wait', why: 'floor_requires_approval' },
    ],
    ['is refused if the server denies it', { floor: { deny: listed } }, { kind: 'refuse', why: 'floor_denies' }],
  ])('%s with `run_without_asking: all` [MCPS-723]', (_what, given, decision) => {
    expect(decideToolCall(pay({ ...given, policy: { run_without_asking: 'all' } }))).toEqual(decision);
    const withApproval = { run_without_asking: 'all' as const, require_approval: listed };
    expect(decideToolCall(pay({ policy: withApproval })).kind).toBe('wait');
  });

  it.each<[string, Lists, Lists, Decision]>([
    ['the floor', { require_approval: listed }, {}, { kind: 'wait', why: 'floor_requires_approval' }],
    ['the version', {}, { require_approval: listed }, { kind: 'wait', why: 'version_requires_approval' }],
    [
      'both',
      { require_approval: listed },
      { require_approval: listed },
      { kind: 'wait', why: 'floor_requires_approval' },
    ],
  ])(
    'that %s wants approved waits, read-only and free or not [WAIT-007, WAIT-008]',
    (_who, floor, policy, decision) => {
      for (const isReadOnly of [false, true]) {
        expect(decideToolCall(pay({ floor, policy, isReadOnly }))).toEqual(decision);
        const alsoFree = { ...policy, run_without_asking: listed };
        expect(decideToolCall(pay({ floor, policy: alsoFree, isReadOnly }))).toEqual(decision);
      }
    },
  );

  it.each<[string, Lists, Lists, Decision]>([
    ['the floor', { deny: listed }, {}, { kind: 'refuse', why: 'floor_denies' }],
    ['the version', {}, { deny: listed }, { kind: 'refuse', why: 'version_denies' }],
    ['both', { deny: listed }, { deny: listed }, { kind: 'refuse', why: 'floor_denies' }],
  ])('that %s denies is refused, whatever else lists it', (_who, floor, policy, decision) => {
    const elsewhere = { require_approval: listed, run_without_asking: listed };
    for (const isReadOnly of [false, true]) {
      expect(decideToolCall(pay({ floor, policy, isReadOnly }))).toEqual(decision);
      const everywhere = { floor: { ...floor, require_approval: listed }, policy: { ...policy, ...elsewhere } };
      expect(decideToolCall(pay({ ...everywhere, isReadOnly }))).toEqual(decision);
    }
  });

  it("stays denied or pending by the server's policy if the version runs it without asking [TOOL-011, TOOL-012]", () => {
    const policy = { run_without_asking: listed };
    expect(decideToolCall(pay({ floor: { deny: listed }, policy })).kind).toBe('refuse');
    expect(decideToolCall(pay({ floor: { require_approval: listed }, policy })).kind).toBe('wait');
  });
});

describe('any tool of an MCP server', () => {
  const strictness = { run: 0, wait: 1, refuse: 2 };
  const strict = (tool: ServerTool) => strictness[decideToolCall(tool).kind];
  const name = fc.constantFrom('pay', 'read', 'send');
  const names = fc.array(name, { maxLength: 3 });
  const floor = fc.record({ deny: names, require_approval: names });
  const policy = fc.record({ deny: names, require_approval: names, run_without_asking: names });
  const tool: fc.Arbitrary<ServerTool> = fc.record({
    from: fc.constant('server' as const),
    name,
    floor,
    policy: fc.option(policy),
    isReadOnly: fc.boolean(),
  });

  it("is never freer after an addition to the server's policy [TOOL-010]", () => {
    fc.assert(
      fc.property(tool, floor, (before, added) => {
        const after = {
          deny: [...before.floor.deny, ...added.deny],
          require_approval: [...before.floor.require_approval, ...added.require_approval],
        };
        expect(strict({ ...before, floor: after })).toBeGreaterThanOrEqual(strict(before));
      }),
    );
  });

  it("is never freer by a version's policy than the server's lists allow [TOOL-010]", () => {
    fc.assert(
      fc.property(tool, ({ policy: given, ...rest }) => {
        const free = { ...empty, run_without_asking: [rest.name] };
        const freest = strict({ ...rest, policy: free });
        expect(strict({ ...rest, policy: given })).toBeGreaterThanOrEqual(freest);
        const floorSays = rest.floor.deny.includes(rest.name)
          ? 2
          : rest.floor.require_approval.includes(rest.name)
            ? 1
            : 0;
        expect(freest).toBe(floorSays);
      }),
    );
  });

  it("is never freer after an addition to the version's deny and require_approval", () => {
    fc.assert(
      fc.property(tool, floor, (before, added) => {
        const policyBefore = before.policy ?? empty;
        const after = {
          ...policyBefore,
          deny: [...policyBefore.deny, ...added.deny],
          require_approval: [...policyBefore.require_approval, ...added.require_approval],
        };
        expect(strict({ ...before, policy: after })).toBeGreaterThanOrEqual(strict(before));
      }),
    );
  });
});
