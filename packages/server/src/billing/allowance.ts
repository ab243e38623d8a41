import { type Failure, fail } from '@vestra/contract/errors';
import type { Micros } from '@vestra/contract/money';

/** The names that caps have on the wire. */
export type CapName = 'org_daily_usd' | 'org_monthly_usd' | 'user_daily_usd' | 'user_monthly_usd';

/** Null: no such cap. */
export type OrgCaps = {
  orgDaily: Micros | null;
  orgMonthly: Micros | null;
  userDaily: Micros | null;
  userMonthly: Micros | null;
};

/** A user's own caps, below those that the org sets for every user. */
export type UserCaps = { daily: Micros | null; monthly: Micros | null };

export type Spend = { dayMicros: Micros; monthMicros: Micros };

/** Where an org and one of its users stand. `held` is what calls that are running may still cost. */
export type MoneyState = {
  balanceMicros: Micros;
  heldMicros: Micros;
  spend: Spend;
  /** Null for the org's own agent, which the caps for users do not bind. */
  user: (Spend & { heldMicros: Micros }) | null;
};

export type Refusal = {
  allowed: false;
  code: 'wallet_empty' | 'org_cap_reached' | 'user_cap_reached';
  /** Null where it is the wallet. */
  cap: CapName | null;
  /** How work that runs into it ends. */
  stopReason: 'credits_exhausted' | 'max_budget';
  /** Money is left, but running calls may need all of it: the same call may be allowed when one of them has ended. */
  isHeldByRunningCalls: boolean;
};

type Allowance = { allowed: true } | Refusal;

/**
 * May one more call start? Yes while anything is left of the wallet and of each cap after what running calls may still
 * cost. So a cap is passed by one call at most, and it is reached rather than never quite: a call that might cost more
 * than what is left still starts.
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

type Bound = { code: Refusal['code']; cap: CapName | null; left: Micros; held: Micros };

function bound(code: Refusal['code'], cap: CapName, amount: Micros | null, spent: Micros, held: Micros): Bound[] {
  return amount === null ? [] : [{ code, cap, left: amount - spent, held }];
}

const refusal = ({ code, cap }: Bound, isHeldByRunningCalls: boolean): Refusal => ({
  allowed: false,
  code,
  cap,
  stopReason: code === 'wallet_empty' ? 'credits_exhausted' : 'max_budget',
  isHeldByRunningCalls,
});

/** The caps that hold for one user: of the user's own and the org's cap for users the smaller. */
export function capsForUser(org: OrgCaps, user: UserCaps): OrgCaps {
  return {
    ...org,
    userDaily: smaller(user.daily, org.userDaily),
    userMonthly: smaller(user.monthly, org.userMonthly),
  };
}

/** What a user may still spend, never below nothing; null where no cap holds. */
export function capsRemaining(
  spend: Spend,
  caps: Pick<OrgCaps, 'userDaily' | 'userMonthly'>,
): { dayMicros: Micros | null; monthMicros: Micros | null } {
  return {
    dayMicros: remaining(caps.userDaily, spend.dayMicros),
    monthMicros: remaining(caps.userMonthly, spend.monthMicros),
  };
}

function remaining(cap: Micros | null, spent: Micros): Micros | null {
  if (cap === null) return null;
  return cap > spent ? cap - spent : 0n;
}

function smaller(one: Micros | null, other: Micros | null): Micros | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/** The refusal as the answer to a caller. */
export function refusalFailure({ code, cap, isHeldByRunningCalls }: Refusal): Failure {
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
  return fail(code, { message: `All of ${what} is spent. It counts anew ${descriptions[cap].anew}.` });
}

const midnight = 'at 00:00 UTC';
const firstOfMonth = 'on the first of the month, UTC';
const descriptions: Record<CapName, { what: string; anew: string }> = {
  org_daily_usd: { what: 'the org’s daily cap', anew: midnight },
  org_monthly_usd: { what: 'the org’s monthly cap', anew: firstOfMonth },
  user_daily_usd: { what: 'the user’s daily cap', anew: midnight },
  user_monthly_usd: { what: 'the user’s monthly cap', anew: firstOfMonth },
};
