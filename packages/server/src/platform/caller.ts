import type { Mode, Role, Scope } from '@vestra/contract/route';
import type { Capability } from '@vestra/contract/session-access';

export type Actor = { type: 'key' | 'member' | 'mcp_grant' | 'session' | 'system'; id: string; name: string };

/** The authenticated caller of a request, with the org and mode in which it acts. */
export type Caller = {
  orgId: string;
  orgStatus: string;
  mode: Mode;
  actor: Actor;
  /** Empty for a session token. */
  scopes: readonly Scope[];
  key: { id: string; name: string; last4: string } | null;
  member: { id: string; role: Role } | null;
  /** An MCP client and the member it acts for. */
  grant: { id: string; memberId: string; role: Role } | null;
  session: {
    id: string;
    userId: string | null;
    conversationId: string | null;
    switchedOn: readonly Capability[];
    expiresAt: Date;
    /** The key, grant or member that opened it, which it ends with. */
    openedBy: string | null;
  } | null;
};

/** The part of a caller that owns rows. */
export type Tenant = Pick<Caller, 'orgId' | 'mode'>;

/** The actor and the request that an audit entry records. */
export type Origin = Pick<Caller, 'orgId' | 'mode' | 'actor'> & { requestId: string | null; ip: string | null };

/** For changes that the server makes by itself. */
export const serverOrigin = (tenant: Tenant): Origin => originOf(tenant, { id: 'system', name: 'Vestra' });

/** For changes that the agent makes during a run. */
export const agentOrigin = (tenant: Tenant): Origin => originOf(tenant, { id: 'agent', name: 'Agent' });

/** For changes that the operator makes, so that they appear in the org's audit log. */
export const operatorOrigin = (tenant: Tenant): Origin => originOf(tenant, { id: 'operator', name: 'Operator' });

const originOf = ({ orgId, mode }: Tenant, actor: Omit<Actor, 'type'>): Origin => ({
  orgId,
  mode,
  actor: { type: 'system', ...actor },
  requestId: null,
  ip: null,
});
