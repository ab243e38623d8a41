import { type Failure, fail } from '@vestra/contract/errors';
import type { Micros } from '@vestra/contract/money';

/** The names that caps have on the wire. */
export type CapName = 'org_daily_usd' | 'org_monthly_usd' | 'user_daily_usd' | 'user_monthly_usd';

/** Null: the org has no such cap. */
export type OrgCaps = {
  orgDaily: Micros | null;
  orgMonthly: Micros | null;
  userDaily: Micros | null;
  userMonthly: Micros | null;
};

/** Caps of a single user. Each replaces the org's cap for users; null leaves that one. */
export type UserCaps = { daily: Micros | null; monthly: Micros | null };

export type Spend = { dayMicros: Micros; monthMicros: Micros };

/** The money of an org and one of its users. `heldMicros` is the most that running calls may still cost. */
export type MoneyState = {
  balanceMicros: Micros;
  heldMicros: Micros;
  spend: Spend;
  /** Null for the org's own agent: caps for users do not apply to it. */
  user: (Spend & { heldMicros: Micros }) | null;
};

export type SpendingRefusal = {
  allowed: false;
  code: 'wallet_empty' | 'org_cap_reached' | 'user_cap_reached';
  /** Null if the wallet is the reason. */
  cap: CapName | null;
  /** The stop reason of a run that meets this refusal. */
  stopReason: 'credits_exhausted' | 'max_budget';
  /** Money is left, but running calls may need all of it. The same call may be allowed when one of them ends. */
  isHeldByRunningCalls: boolean;
};

type Allowance = { allowed: true } | SpendingRefusal;

/**
 * Decides whether one more call may start. It may while the wallet and each cap have more left than running calls hold.
 * The call's own maximum cost does not count. So spend can reach a cap, and at most one call exceeds it.
 */
export function allowanceOf(money: MoneyState, caps: OrgCaps): Allowance {
  const { balanceMicros, heldMicros, spend, user } = money;
  const bounds: Bound[] = [
    { code: 'wallet_empty', cap: null, left: balanceMicros, held: heldMicros },
    ...bound('org_cap_reached', 'org_daily_usd', caps.orgDaily, spend.dayMicros, heldMicros),
    ...bound('org_cap_reached', 'org_monthly_usd', caps.orgMonthly, spend.monthMicros, heldMicros),
  ];
  if (user) {
    bounds.push(
      ...bound('user_cap_reached', 'user_daily_usd', caps.userDaily, user.dayMicros, user.heldMicros),
      ...bound('user_cap_reached', 'user_monthly_usd', caps.userMonthly, user.monthMicros, user.heldMicros),
    );
  }
  const reached = bounds.find(({ left }) => left <= 0n);
  if (reached) return refusal(reached, false);
  const held = bounds.find((each) => each.left <= each.held);
  return held ? refusal(held, true) : { allowed: true };
}

type Bound = { code: SpendingRefusal['code']; cap: CapName | null; left: Micros; held: Micros };

function bound(
  code: SpendingRefusal['code'],
  cap: CapName,
  amount: Micros | null,
  spent: Micros,
  held: Micros,
): Bound[] {
  return amount === null ? [] : [{ code, cap, left: amount - spent, held }];
}

const refusal = ({ code, cap }: Bound, isHeldByRunningCalls: boolean): SpendingRefusal => ({
  allowed: false,
  code,
  cap,
  stopReason: code === 'wallet_empty' ? 'credits_exhausted' : 'max_budget',
  isHeldByRunningCalls,
});

/** The caps that apply to one user: the user's own cap, or else the org's cap for users. */
export function capsForUser(org: OrgCaps, user: UserCaps): OrgCaps {
  return {
    ...org,
    userDaily: user.daily ?? org.userDaily,
    userMonthly: user.monthly ?? org.userMonthly,
  };
}

/** The amount that a user may still spend, at least zero. Null if no cap applies. */
export function capsRemaining(
  spend: Spend,
  org: OrgCaps,
  user: UserCaps,
): { dayMicros: Micros | null; monthMicros: Micros | null } {
  const caps = capsForUser(org, user);
  return {
    dayMicros: remaining(caps.userDaily, spend.dayMicros),
    monthMicros: remaining(caps.userMonthly, spend.monthMicros),
  };
}

function remaining(cap: Micros | null, spent: Micros): Micros | null {
  if (cap === null) return null;
  return cap > spent ? cap - spent : 0n;
}

/** The refusal as an API error. */
export function refusalFailure({ code, cap, isHeldByRunningCalls }: SpendingRefusal): Failure {
  const what = cap === null ? 'the wallet' : descriptions[cap].what;
  if (isHeldByRunningCalls) {
    return fail(code, {
      message: `All that is left of ${what} is held by calls that are running. Try again when one has ended.`,
    });
  }
  if (cap === null) {
    return fail(code, {
      message: 'The wallet is empty. The operator of this server adds money with `vestra admin credit`.',
    });
  }
  return fail(code, { message: `All of ${what} is spent. It resets ${descriptions[cap].resets}.` });
}

const midnight = 'at 00:00 UTC';
const firstOfMonth = 'on the first of the month, UTC';
const descriptions: Record<CapName, { what: string; resets: string }> = {
  org_daily_usd: { what: 'the org’s daily cap', resets: midnight },
  org_monthly_usd: { what: 'the org’s monthly cap', resets: firstOfMonth },
  user_daily_usd: { what: 'the user’s daily cap', resets: midnight },
  user_monthly_usd: { what: 'the user’s monthly cap', resets: firstOfMonth },
};
