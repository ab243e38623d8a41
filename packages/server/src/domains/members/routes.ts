import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { type Handlers, Reply } from '../../http/handler.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { acceptInvite } from './accept.ts';
import { clearedCookie, isSecureRequest, readSessionToken, sessionCookie } from './console-session.ts';
import { inviteMember } from './invite.ts';
import { logIn } from './login.ts';
import { logOut } from './logout.ts';
import { managerOf } from './member.ts';
import { presentMember } from './present.ts';
import { removeMember } from './remove.ts';
import { showSession } from './show-session.ts';
import { listMembers } from './store.ts';
import { updateMember } from './update.ts';

export type MemberDependencies = {
  db: Database;
  rateLimiter: RateLimiter;
  /** Where browsers reach this server, such as `https://agents.example.com`. */
  publicUrl: string;
};

export function memberRoutes({ db, rateLimiter, publicUrl }: MemberDependencies): Handlers<'members'> {
  return {
    list: async ({ caller, page }) =>
      page.of(await listMembers(db, caller.orgId, page), presentMember, (row) => [row.id]),
    invite: async ({ caller, origin, body, commit }) =>
      commit((tx) => inviteMember(tx, origin, { manager: managerOf(caller), ...body, publicUrl })),
    update: async ({ caller, origin, params, body }) =>
      transaction(db, (tx) =>
        updateMember(tx, origin, { manager: managerOf(caller), memberId: params.member_id, ...body }),
      ),
    remove: async ({ caller, origin, params }) => {
      await transaction(db, (tx) =>
        removeMember(tx, origin, { manager: managerOf(caller), memberId: params.member_id }),
      );
      return { object: 'member', id: params.member_id, deleted: true };
    },
    accept: async ({ body, requestId, ip }) => acceptInvite({ db, rateLimiter }, body, { requestId, ip }),
  };
}

export function consoleRoutes({ db, rateLimiter, publicUrl }: MemberDependencies): Handlers<'consoleAccess'> {
  return {
    login: async ({ body, headers, requestId, ip }) => {
      const { token, session } = await logIn({ db, rateLimiter }, body, { requestId, ip });
      return new Reply(session, {
        headers: { 'set-cookie': sessionCookie(token, isSecureRequest(headers, publicUrl)) },
      });
    },
    logout: async ({ headers, requestId, ip }) => {
      const token = readSessionToken(headers, publicUrl);
      if (token) await transaction(db, (tx) => logOut(tx, token, { requestId, ip }));
      return new Reply(
        { object: 'console_session', deleted: true },
        { headers: { 'set-cookie': clearedCookie(isSecureRequest(headers, publicUrl)) } },
      );
    },
    session: async ({ caller, headers }) => showSession(db, caller, readSessionToken(headers, publicUrl)),
  };
}
