import { describe, expect, it } from 'vitest';
import {
  allowanceOf,
  capsForUser,
  capsRemaining,
  type MoneyState,
  type OrgCaps,
  refusalFailure,
  type SpendingRefusal,
} from './allowance.ts';

const rich: MoneyState = {
  balanceMicros: 1_000n,
  heldMicros: 0n,
  spend: { dayMicros: 0n, monthMicros: 0n },
  user: { dayMicros: 0n, monthMicros: 0n, heldMicros: 0n },
};
const free: OrgCaps = { orgDaily: null, orgMonthly: null, userDaily: null, userMonthly: null };
const spend = (dayMicros: bigint, monthMicros = dayMicros) => ({ dayMicros, monthMicros });

describe('allowanceOf', () => {
  it.each<[what: string, money: Partial<MoneyState>, caps: Partial<OrgCaps>]>([
    ['with money and no caps', {}, {}],
    ['on the last micro-dollar', { balanceMicros: 1n }, {}],
    ['beside calls that leave a micro-dollar', { balanceMicros: 10n, heldMicros: 9n }, {}],
    ['just below each cap', { spend: spend(9n, 99n) }, { orgDaily: 10n, orgMonthly: 100n }],
    [
      'of a user just below each cap',
      { user: { ...spend(9n, 99n), heldMicros: 0n } },
      { userDaily: 10n, userMonthly: 100n },
    ],
    ['of the org’s own agent, whatever users may spend', { user: null }, { userDaily: 0n, userMonthly: 0n }],
    [
      'of a user whose neighbours hold much',
      { heldMicros: 500n, user: { ...spend(0n), heldMicros: 1n } },
      { userDaily: 10n },
    ],
  ])('allows a call %s', (_what, money, caps) => {
    expect(allowanceOf({ ...rich, ...money }, { ...free, ...caps })).toEqual({ allowed: true });
  });

  type Expected = [code: SpendingRefusal['code'], cap: SpendingRefusal['cap'], isHeldByRunningCalls: boolean];
  it.each<[what: string, money: Partial<MoneyState>, caps: Partial<OrgCaps>, expected: Expected]>([
    ['on an empty wallet', { balanceMicros: 0n }, {}, ['wallet_empty', null, false]],
    ['on a wallet below zero', { balanceMicros: -1n }, {}, ['wallet_empty', null, false]],
    [
      'on a wallet that running calls may need',
      { balanceMicros: 10n, heldMicros: 10n },
      {},
      ['wallet_empty', null, true],
    ],
    ['under an org cap of 0 a day', {}, { orgDaily: 0n }, ['org_cap_reached', 'org_daily_usd', false]],
    ['under an org cap of 0 a month', {}, { orgMonthly: 0n }, ['org_cap_reached', 'org_monthly_usd', false]],
    ['under a user cap of 0 a day', {}, { userDaily: 0n }, ['user_cap_reached', 'user_daily_usd', false]],
    ['under a user cap of 0 a month', {}, { userMonthly: 0n }, ['user_cap_reached', 'user_monthly_usd', false]],
    ['at the org’s day', { spend: spend(10n) }, { orgDaily: 10n }, ['org_cap_reached', 'org_daily_usd', false]],
    [
      'at the org’s month',
      { spend: spend(0n, 11n) },
      { orgDaily: 10n, orgMonthly: 11n },
      ['org_cap_reached', 'org_monthly_usd', false],
    ],
    [
      'past the user’s day',
      { user: { ...spend(11n), heldMicros: 0n } },
      { userDaily: 10n },
      ['user_cap_reached', 'user_daily_usd', false],
    ],
    [
      'at the user’s month',
      { user: { ...spend(0n, 10n), heldMicros: 0n } },
      { userDaily: 10n, userMonthly: 10n },
      ['user_cap_reached', 'user_monthly_usd', false],
    ],
    [
      'where running calls may reach the org’s day',
      { spend: spend(4n), heldMicros: 6n },
      { orgDaily: 10n },
      ['org_cap_reached', 'org_daily_usd', true],
    ],
    [
      'where the user’s running calls may reach their day',
      { heldMicros: 6n, user: { ...spend(4n), heldMicros: 6n } },
      { userDaily: 10n },
      ['user_cap_reached', 'user_daily_usd', true],
    ],
    [
      'on an empty wallet first of all',
      { balanceMicros: 0n, spend: spend(10n) },
      { orgDaily: 10n, userDaily: 0n },
      ['wallet_empty', null, false],
    ],
    [
      'at the org’s cap before the user’s',
      {},
      { orgDaily: 0n, userDaily: 0n },
      ['org_cap_reached', 'org_daily_usd', false],
    ],
    [
      'at a cap that is spent before a wallet that is held',
      { balanceMicros: 10n, heldMicros: 10n },
      { userMonthly: 0n },
      ['user_cap_reached', 'user_monthly_usd', false],
    ],
  ])('refuses a call %s [MON-013]', (_what, money, caps, [code, cap, isHeldByRunningCalls]) => {
    expect(allowanceOf({ ...rich, ...money }, { ...free, ...caps })).toEqual({
      allowed: false,
      code,
      cap,
      stopReason: code === 'wallet_empty' ? 'credits_exhausted' : 'max_budget',
      isHeldByRunningCalls,
    });
  });
});

describe('the caps of a user', () => {
  it.each<[own: bigint | null, org: bigint | null, holds: bigint | null]>([
    [null, null, null],
    [5n, null, 5n],
    [null, 7n, 7n],
    [5n, 7n, 5n],
    [9n, 7n, 9n],
    [0n, 7n, 0n],
    [9n, 0n, 9n],
  ])('are, for the user’s %s and the org’s %s, %s [MON-021]', (own, org, holds) => {
    const caps = capsForUser({ ...free, userDaily: org, userMonthly: org }, { daily: own, monthly: own });
    expect(caps).toEqual({ ...free, userDaily: holds, userMonthly: holds });
  });

  it('leave the unspent rest, and at least zero', () => {
    const left = (spent: bigint, cap: bigint | null) =>
      capsRemaining(spend(spent), { ...free, userDaily: cap, userMonthly: cap }, { daily: null, monthly: null });
    expect(left(3n, 10n)).toEqual({ dayMicros: 7n, monthMicros: 7n });
    expect(left(12n, 10n)).toEqual({ dayMicros: 0n, monthMicros: 0n });
    expect(left(12n, null)).toEqual({ dayMicros: null, monthMicros: null });
  });
});

describe('refusalFailure', () => {
  const refused = (money: Partial<MoneyState>, caps: Partial<OrgCaps>) =>
    refusalFailure(allowanceOf({ ...rich, ...money }, { ...free, ...caps }) as SpendingRefusal);

  it('names the command that adds money to an empty wallet [MON-012]', () => {
    expect(refused({ balanceMicros: 0n }, {})).toMatchObject({
      code: 'wallet_empty',
      status: 402,
      message: expect.stringContaining('`vestra admin credit`'),
    });
  });

  it('names the cap and the time when it resets', () => {
    expect(refused({}, { orgDaily: 0n })).toMatchObject({
      code: 'org_cap_reached',
      status: 402,
      message: 'All of the org’s daily cap is spent. It resets at 00:00 UTC.',
    });
    expect(refused({}, { userMonthly: 0n })).toMatchObject({
      code: 'user_cap_reached',
      message: 'All of the user’s monthly cap is spent. It resets on the first of the month, UTC.',
    });
  });

  it('asks to retry if running calls hold the money', () => {
    expect(refused({ balanceMicros: 5n, heldMicros: 5n }, {}).message).toMatch(/Try again/);
  });
});
