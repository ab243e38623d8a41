import { type Failure, fail } from '@vestra/contract/errors';
import { type Micros, microsToUsd, usdToMicros } from '@vestra/contract/money';
import { emit, emitAll, findSettings, type OrgSettings, recordAudit } from '../account/index.ts';
import { capsRemaining, type Spend } from '../billing/index.ts';
import type { Caller, Origin, Tenant } from '../platform/caller.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { findUser, findUsers, insertUser, insertUsers, lockUser, updateUser } from './store.ts';
import type { UserRow } from './tables.ts';

type Profile = Partial<Pick<UserRow, 'name' | 'email' | 'locale' | 'timezone' | 'metadata'>>;

/** Finds the user, or creates it with this profile. The profile does not change an existing user. */
export async function findOrCreateUser(
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  profile: Profile = {},
): Promise<UserRow> {
  const known = await findUser(tx, tenant, userId);
  if (known) refuseErasing(known);
  if (known) return known;
  const made = await insertUser(tx, {
    org_id: tenant.orgId,
    mode: tenant.mode,
    id: userId,
    // Use whole milliseconds: cursors have no finer resolution.
    created_at: new Date(),
    ...profile,
  });
  if (!made) return (await findUser(tx, tenant, userId)) as UserRow;
  const data = presentUser(made, { settings: await findSettings(tx, tenant) });
  await emit(tx, { ...tenant, type: 'user.created', data });
  return made;
}

/** Finds or creates the user that a request acts for. Throws if the user is disabled. */
export async function enterUser(tx: Transaction, tenant: Tenant, userId: string): Promise<UserRow> {
  const user = await findOrCreateUser(tx, tenant, userId);
  if (user.status === 'disabled') throw fail('user_disabled');
  return user;
}

/**
 * Like `enterUser` for many users, in a few statements. Returns a failure for each user that is disabled or being
 * erased. Inserts in the order of ids, so that two transactions that create the same users do not deadlock.
 */
export async function enterUsers(
  tx: Transaction,
  tenant: Tenant,
  userIds: readonly string[],
): Promise<{ users: ReadonlyMap<string, UserRow>; refused: ReadonlyMap<string, Failure> }> {
  const ids = [...new Set(userIds)].sort();
  const known = await findUsers(tx, tenant, ids);
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) {
    // Use whole milliseconds: cursors have no finer resolution.
    const created_at = new Date();
    const made = await insertUsers(
      tx,
      missing.map((id) => ({ org_id: tenant.orgId, mode: tenant.mode, id, created_at })),
    );
    for (const row of made) known.set(row.id, row);
    const settings = await findSettings(tx, tenant);
    await emitAll(
      tx,
      made.map((row) => ({ ...tenant, type: 'user.created', data: presentUser(row, { settings }) })),
    );
    if (made.length < missing.length) {
      for (const [id, row] of await findUsers(tx, tenant, missing)) known.set(id, row);
    }
  }
  const refused = [...known].map(([id, row]) => [id, refusalOf(row)] as const);
  return { users: known, refused: new Map(refused.filter((each): each is [string, Failure] => each[1] !== null)) };
}

type UserChanges = Profile & {
  spend_cap_usd?: number | null | undefined;
  monthly_cap_usd?: number | null | undefined;
  default_deployment?: string | null | undefined;
  status?: UserRow['status'] | undefined;
};

export async function changeUser(
  tx: Transaction,
  origin: Origin,
  userId: string,
  { spend_cap_usd, monthly_cap_usd, ...rest }: UserChanges,
): Promise<UserRow> {
  const before = await lockUser(tx, origin, userId);
  if (!before || before.erasing_since) throw fail('user_not_found');
  const settings = await findSettings(tx, origin);
  const changes: Partial<UserRow> = { ...rest } as Partial<UserRow>;
  if (spend_cap_usd !== undefined) {
    changes.daily_cap_micros = readCap(spend_cap_usd, 'spend_cap_usd', settings.org_daily_micros);
  }
  if (monthly_cap_usd !== undefined) {
    changes.monthly_cap_micros = readCap(monthly_cap_usd, 'monthly_cap_usd', settings.org_monthly_micros);
  }
  const row = await updateUser(tx, origin, userId, changes);
  await recordAudit(tx, origin, {
    action: 'user.updated',
    target: { type: 'user', id: userId },
    details: { changed: Object.keys(changes) },
  });
  return row;
}

/** The id can be used again when the erasure is finished. */
function refuseErasing(row: Pick<UserRow, 'erasing_since'>): void {
  if (row.erasing_since) throw beingErased();
}

/** The reason why no request may act for this user, or null. */
function refusalOf({ erasing_since, status }: Pick<UserRow, 'erasing_since' | 'status'>): Failure | null {
  if (erasing_since) return beingErased();
  return status === 'disabled' ? fail('user_disabled') : null;
}

const beingErased = () => fail('user_disabled', { message: 'This user is being erased. Try again when it is done.' });

/** A user's own cap may be above the org's cap for users, so that one user can get more, but not above the org's own. */
function readCap(
  wanted: number | null,
  param: 'spend_cap_usd' | 'monthly_cap_usd',
  ceiling: Micros | null,
): Micros | null {
  if (wanted === null) return null;
  const cap = usdToMicros(wanted);
  if (ceiling !== null && cap > ceiling) {
    throw fail('cap_above_maximum', {
      param,
      message: `${wanted} is above the org’s own cap of ${microsToUsd(ceiling)} US dollars.`,
    });
  }
  return cap;
}

const usdOrNull = (micros: Micros | null) => (micros === null ? null : microsToUsd(micros));

const noSpend: Spend = { dayMicros: 0n, monthMicros: 0n };

export function presentUser(
  row: UserRow,
  { settings, spend = noSpend }: { settings: OrgSettings; spend?: Spend | undefined },
) {
  const left = capsRemaining(
    spend,
    {
      orgDaily: settings.org_daily_micros,
      orgMonthly: settings.org_monthly_micros,
      userDaily: settings.user_daily_micros,
      userMonthly: settings.user_monthly_micros,
    },
    { daily: row.daily_cap_micros, monthly: row.monthly_cap_micros },
  );
  return {
    object: 'user' as const,
    id: row.id,
    name: row.name,
    email: row.email,
    locale: row.locale,
    timezone: row.timezone,
    metadata: row.metadata,
    status: row.status,
    spend_cap_usd: usdOrNull(row.daily_cap_micros),
    monthly_cap_usd: usdOrNull(row.monthly_cap_micros),
    default_deployment: row.default_deployment,
    memory_mode: settings.memory_mode,
    is_service_user: row.is_service_user,
    created_at: row.created_at.toISOString(),
    spend_today_usd: microsToUsd(spend.dayMicros),
    spend_month_usd: microsToUsd(spend.monthMicros),
    caps_remaining: { day_usd: usdOrNull(left.dayMicros), month_usd: usdOrNull(left.monthMicros) },
  };
}

/**
 * The user that a request acts for, created on first use. Null for the org's own agent. A session always acts for its
 * own user.
 */
export async function actingUser(tx: Transaction, caller: Caller, userId: string | undefined): Promise<UserRow | null> {
  const named = await namedUser(tx, caller, userId);
  return named === null ? null : enterUser(tx, caller, named);
}

/**
 * The id of the user that a request reads or deletes from. Null for the org's own agent. It creates no user: an unknown
 * user has nothing to read, and an erased one must stay erased.
 */
export async function requestedUserId(
  db: Executor,
  caller: Caller,
  userId: string | undefined,
): Promise<string | null> {
  const named = await namedUser(db, caller, userId);
  if (named !== null) await findRequestedUser(db, caller, named);
  return named;
}

/** Finds the user. Throws if the user is disabled or being erased. */
export async function findRequestedUser(db: Executor, tenant: Tenant, userId: string): Promise<UserRow | undefined> {
  const user = await findUser(db, tenant, userId);
  const refused = user ? refusalOf(user) : null;
  if (refused) throw refused;
  return user;
}

/** Finds the user of a path. Throws if there is none. */
export async function requireRequestedUser(db: Executor, tenant: Tenant, userId: string): Promise<UserRow> {
  const user = await findRequestedUser(db, tenant, userId);
  if (!user) throw fail('user_not_found');
  return user;
}

/** The user id that the request or its session names. Undefined: the org's settings decide. */
export function statedUserId(caller: Caller, userId: string | undefined): string | undefined {
  if (caller.session && userId !== undefined && userId !== caller.session.userId) throw fail('session_scope');
  return (caller.session ? caller.session.userId : userId) ?? undefined;
}

async function namedUser(db: Executor, caller: Caller, userId: string | undefined): Promise<string | null> {
  const named = statedUserId(caller, userId);
  if (named !== undefined) return named;
  const settings = await findSettings(db, caller);
  if (settings.require_user) throw fail('user_required', { param: 'user_id' });
  return null;
}
