import type { Mode, Role, Scope } from '@vestra/contract/route';
import type { Capability } from '@vestra/contract/session-access';

export type Actor = { type: 'key' | 'member' | 'mcp_grant' | 'session' | 'system'; id: string; name: string };

/** Who is behind a request, and in which org and mode it acts. */
export type Caller = {
  orgId: string;
  orgStatus: string;
  mode: Mode;
  actor: Actor;
  /** What the caller may do; a session token holds none. */
  scopes: readonly Scope[];
  key: { id: string; name: string; last4: string } | null;
  member: { id: string; role: Role } | null;
  /** An MCP client, and the member whom it acts for. */
  grant: { id: string; memberId: string; role: Role } | null;
  session: {
    id: string;
    userId: string | null;
    conversationId: string | null;
    switchedOn: readonly Capability[];
    expiresAt: Date;
  } | null;
};

/** The part of a caller that owns rows. */
export type Tenant = Pick<Caller, 'orgId' | 'mode'>;

/** What an audit entry needs to know of the request behind a change. */
export type Origin = Pick<Caller, 'orgId' | 'mode' | 'actor'> & { requestId: string | null; ip: string | null };

/** What the server does by itself. */
export const serverOrigin = (tenant: Tenant): Origin => originOf(tenant, { id: 'system', name: 'Vestra' });

/** What the agent does in the course of its work. */
export const agentOrigin = (tenant: Tenant): Origin => originOf(tenant, { id: 'agent', name: 'Agent' });

/** What the operator does, for the audit log of the org. */
export const operatorOrigin = (tenant: Tenant): Origin => originOf(tenant, { id: 'operator', name: 'Operator' });

const originOf = ({ orgId, mode }: Tenant, actor: Omit<Actor, 'type'>): Origin => ({
  orgId,
  mode,
  actor: { type: 'system', ...actor },
  requestId: null,
  ip: null,
});
