import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';

/** What routines ask of the domains around them. Each speaks in the transaction that it is given. */
export type RoutinePorts = {
  timezoneOfUser: TimezoneOfUser;
  /** The user whom a request acts for, made on first use; throws 403 `user_disabled` where nobody may act for them. */
  enterUser: (tx: Transaction, tenant: Tenant, userId: string) => Promise<{ default_deployment: string | null }>;
  /** Nothing where the tenant has no such conversation; otherwise it cannot be deleted until the transaction ends. */
  holdConversation: (
    tx: Transaction,
    tenant: Tenant,
    conversationId: string,
  ) => Promise<{ user_id: string | null } | undefined>;
};

/** Null where the user has named none, and where there is no such user. */
export type TimezoneOfUser = (tx: Transaction, tenant: Tenant, userId: string) => Promise<string | null>;
