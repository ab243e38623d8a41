import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type Handlers, Reply } from '../../platform/http/handler.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { sourceOf } from './access-log.ts';
import { renameSignedInMember, showAccount, showSession } from './account.ts';
import { endOtherSignIns, endSignIn, listSessions, logOut, presentSignIn, signedIn } from './console-sessions.ts';
import type { KnownBrowsers } from './login-throttle.ts';
import { logIn } from './logins.ts';
import { managerOf, presentMember } from './member.ts';
import { acceptInvite, inviteMember, removeMember, updateMember } from './members.ts';
import { changePassword, createResetLink, type McpConsents, resetPassword } from './passwords.ts';
import {
  browserCookie,
  clearedCookie,
  isSecureRequest,
  readBrowserMark,
  readSessionToken,
  sessionCookie,
} from './session-cookies.ts';
import { listMembers } from './store.ts';

export type MemberDependencies = {
  db: Database;
  rateLimiter: RateLimiter;
  /** The public address of this server, such as `https://agents.example.com`. */
  publicUrl: string;
};

export function memberRoutes({
  db,
  rateLimiter,
  publicUrl,
  mcpClients,
}: MemberDependencies & { mcpClients: McpConsents }): Handlers<'members'> {
  return {
    list: async ({ caller, page }) =>
      page.of(await listMembers(db, caller.orgId, page), presentMember, (row) => [row.id]),
    invite: async ({ caller, origin, body, commit }) =>
      commit((tx) => inviteMember(tx, origin, { manager: managerOf(caller), ...body, publicUrl })),
    update: async ({ caller, origin, params, body }) =>
      transaction(db, (tx) =>
        updateMember(tx, origin, { manager: managerOf(caller), memberId: params.member_id, ...body }),
      ),
    remove: async ({ caller, origin, params: { member_id: memberId } }) => {
      const endedGrants = await transaction(db, async (tx) => {
        const ids = await mcpClients.endAll(tx, [memberId], origin);
        await removeMember(tx, origin, { manager: managerOf(caller), memberId });
        return ids;
      });
      for (const id of [memberId, ...endedGrants]) mcpClients.ended(id);
      return { object: 'member', id: memberId, deleted: true };
    },
    resetPassword: async ({ caller, origin, params, commit }) =>
      commit((tx) =>
        createResetLink(tx, origin, { manager: managerOf(caller), memberId: params.member_id, publicUrl }),
      ),
    accept: async ({ body, requestId, ip }) => acceptInvite({ db, rateLimiter }, body, { requestId, ip }),
  };
}

export function consoleRoutes({
  db,
  rateLimiter,
  publicUrl,
  mcpClients,
  browsers,
}: MemberDependencies & { mcpClients: McpConsents; browsers: KnownBrowsers }): Handlers<'consoleAccess'> {
  return {
    login: async ({ body, headers, requestId, ip }) => {
      const credentials = { ...body, browser: readBrowserMark(headers, publicUrl) };
      const source = sourceOf({ requestId, ip, headers });
      const { token, session, browser } = await logIn({ db, rateLimiter, browsers }, credentials, source);
      const isSecure = isSecureRequest(headers, publicUrl);
      return new Reply(session, {
        headers: { 'set-cookie': [sessionCookie(token, isSecure), browserCookie(browser, isSecure)] },
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
    resetPassword: async ({ body, headers, requestId, ip }) =>
      resetPassword({ db, rateLimiter, mcpClients }, body, sourceOf({ requestId, ip, headers })),
    session: async ({ caller, headers }) => showSession(db, caller, readSessionToken(headers, publicUrl)),
  };
}

export function accountRoutes({ db, rateLimiter, publicUrl }: MemberDependencies): Handlers<'consoleAccount'> {
  const personOf = ({ caller, headers }: { caller: Caller; headers: Headers }) =>
    signedIn(db, caller, readSessionToken(headers, publicUrl));
  return {
    show: async (incoming) => showAccount(db, await personOf(incoming)),
    update: async (incoming) => {
      const person = await personOf(incoming);
      return transaction(db, (tx) => renameSignedInMember(tx, incoming.origin, person, incoming.body.name));
    },
    changePassword: async (incoming) => {
      const { password, new_password: newPassword } = incoming.body;
      const person = await personOf(incoming);
      return changePassword({ db, rateLimiter }, person, { password, newPassword }, sourceOf(incoming));
    },
    signIns: async (incoming) => {
      const { session } = await personOf(incoming);
      const rows = await listSessions(db, session, incoming.page);
      return incoming.page.of(
        rows,
        (row) => presentSignIn(row, session.id),
        (row) => [row.id],
      );
    },
    endSignIn: async (incoming) => {
      const person = await personOf(incoming);
      const id = incoming.params.console_session_id;
      await transaction(db, (tx) => endSignIn(tx, person, id, sourceOf(incoming)));
      return { object: 'console_sign_in', id, deleted: true };
    },
    endOtherSignIns: async (incoming) => {
      const person = await personOf(incoming);
      const ended = await transaction(db, (tx) => endOtherSignIns(tx, person, sourceOf(incoming)));
      return { object: 'console_sign_in', ended };
    },
  };
}
