import { fail } from '@vestra/contract/errors';
import { findSettings } from '../account/index.ts';
import { holdDeployment } from '../agents/deployments/index.ts';
import { spendOfUsers } from '../billing/index.ts';
import type { Tenant } from '../platform/caller.ts';
import type { Database, Executor, Transaction } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { Handlers } from '../platform/http/handler.ts';
import type { JobSender } from '../platform/jobs/catalog.ts';
import { requestErasure } from './erasure.ts';
import { findUser, listUsers } from './store.ts';
import type { UserRow } from './tables.ts';
import { changeUser, findOrCreateUser, presentUser } from './users.ts';

export type UserDependencies = {
  db: Database;
  jobs: JobSender;
  /**
   * Finds the sessions of a user who is disabled or deleted, before an erasure deletes them. Returns a function that
   * closes their open connections, to be called after the commit.
   */
  shutOut: (tx: Transaction, tenant: Tenant, userId: string) => Promise<() => void>;
  /** Called when a user gets a time zone, to reschedule what follows their clock. */
  timezoneGiven: (tx: Transaction, tenant: Tenant, userId: string, timezone: string | null) => Promise<void>;
  /** Called when a user gets another default deployment. */
  defaultGiven: (tx: Transaction, tenant: Tenant, userId: string) => Promise<void>;
  /** Called before a cap of a user changes, in the same transaction. */
  capsChange: (tx: Transaction, tenant: Tenant, userId: string) => Promise<void>;
};

export function userRoutes({
  db,
  jobs,
  shutOut,
  timezoneGiven,
  defaultGiven,
  capsChange,
}: UserDependencies): Handlers<'users'> {
  return {
    list: async ({ caller, query, page }) => {
      const filter = { q: query.q, status: query.status, email: query.email, createdAfter: query.created_after };
      const rows = await listUsers(db, caller, filter, page);
      const present = await presenter(db, caller, rows);
      return page.of(rows, present, (row) => [row.created_at.toISOString(), row.id]);
    },
    create: async ({ caller, body: { user_id, ...profile }, commit }) =>
      commit(async (tx) => {
        const row = await findOrCreateUser(tx, caller, user_id, profile);
        await timezoneGiven(tx, caller, user_id, row.timezone);
        return (await presenter(tx, caller, [row]))(row);
      }),
    get: async ({ caller, params }) => {
      const row = await findUser(db, caller, params.user_id);
      if (!row || row.erasing_since) throw fail('user_not_found');
      return (await presenter(db, caller, [row]))(row);
    },
    update: async ({ caller, origin, params, body }) => {
      const { shown, closeStreams } = await transaction(db, async (tx) => {
        const { default_deployment: reference, ...rest } = body;
        const deployment = reference
          ? (await holdDeployment(tx, caller.orgId, reference, 'default_deployment')).id
          : reference;
        const changes = { ...rest, ...(deployment !== undefined && { default_deployment: deployment }) };
        const hasCap = body.spend_cap_usd !== undefined || body.monthly_cap_usd !== undefined;
        if (hasCap) await capsChange(tx, caller, params.user_id);
        const row = await changeUser(tx, origin, params.user_id, changes);
        // A job, so that open replies and tasks end even if this process dies now.
        if (body.status === 'disabled') {
          await jobs.send(tx, 'user.stop', { org_id: caller.orgId, mode: caller.mode, user_id: params.user_id });
        }
        if (body.timezone !== undefined) await timezoneGiven(tx, caller, params.user_id, row.timezone);
        if (deployment !== undefined) await defaultGiven(tx, caller, params.user_id);
        return {
          shown: (await presenter(tx, caller, [row]))(row),
          closeStreams: row.status === 'disabled' ? await shutOut(tx, caller, params.user_id) : undefined,
        };
      });
      closeStreams?.();
      return shown;
    },
    delete: async ({ caller, origin, params }) => {
      const closeStreams = await transaction(db, async (tx) => {
        await requestErasure(tx, jobs, origin, params.user_id);
        return shutOut(tx, caller, params.user_id);
      });
      closeStreams();
      return { object: 'user', id: params.user_id, deleted: false, status: 'deleting' };
    },
  };
}

async function presenter(db: Executor, tenant: Tenant, rows: readonly UserRow[]) {
  const settings = await findSettings(db, tenant);
  const spends = await spendOfUsers(
    db,
    tenant,
    rows.map(({ id }) => id),
  );
  return (row: UserRow) => presentUser(row, { settings, spend: spends.get(row.id) });
}
