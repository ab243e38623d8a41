import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../../platform/caller.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import { type Handlers, Reply } from '../../../platform/http/handler.ts';
import type { PasskeyRow } from '../../tables.ts';
import { recordAccess, sourceOf } from '../access-log.ts';
import { type SignedIn, signedIn } from '../console-sessions.ts';
import { deletePasskey, listPasskeys, renamePasskey } from '../login-store.ts';
import type { MemberDependencies } from '../routes.ts';
import {
  attemptCookie,
  clearedAttemptCookie,
  isSecureRequest,
  readAttemptToken,
  readSessionToken,
  sessionCookie,
} from '../session-cookies.ts';
import { beginPasskeySignIn, beginRegistration, register, signInWithPasskey } from './passkeys.ts';

export function passkeyRoutes(deps: MemberDependencies): Handlers<'passkeys'> {
  const { db, publicUrl } = deps;
  const personOf = async ({ caller, headers }: { caller: Caller; headers: Headers }) => {
    const person = await signedIn(db, caller, readSessionToken(headers, publicUrl));
    return { ...person, email: emailOf(person) };
  };
  const begun = (headers: Headers, { token, options }: { token: string; options: object }) =>
    new Reply(
      { object: 'passkey_options' as const, options: options as { challenge: string } },
      { headers: { 'set-cookie': attemptCookie(token, isSecureRequest(headers, publicUrl)) } },
    );

  return {
    list: async (incoming) => {
      const { email } = await personOf(incoming);
      return incoming.page.of(await listPasskeys(db, email, incoming.page), presentPasskey, ({ id }) => [id]);
    },
    beginRegistration: async (incoming) => {
      const person = await personOf(incoming);
      return begun(incoming.headers, await beginRegistration(deps, person, incoming.body.password, sourceOf(incoming)));
    },
    register: async (incoming) => {
      const token = readAttemptToken(incoming.headers, publicUrl);
      const row = await register(deps, await personOf(incoming), { token, ...incoming.body }, sourceOf(incoming));
      const cleared = clearedAttemptCookie(isSecureRequest(incoming.headers, publicUrl));
      return new Reply(presentPasskey(row), { headers: { 'set-cookie': cleared } });
    },
    update: async (incoming) => {
      const { email } = await personOf(incoming);
      const change = { id: incoming.params.passkey_id, name: incoming.body.name };
      const row = await transaction(db, (tx) => renamePasskey(tx, email, change));
      if (!row) throw fail('passkey_not_found');
      return presentPasskey(row);
    },
    remove: async (incoming) => {
      const { email, memberships } = await personOf(incoming);
      const id = incoming.params.passkey_id;
      await transaction(db, async (tx) => {
        if (!(await deletePasskey(tx, email, id))) throw fail('passkey_not_found');
        await recordAccess(tx, memberships, 'member.passkey_removed', sourceOf(incoming));
      });
      return { object: 'passkey', id, deleted: true };
    },
    beginSignIn: async ({ headers }) => begun(headers, await beginPasskeySignIn(deps)),
    signIn: async ({ body, headers, requestId, ip }) => {
      const given = { token: readAttemptToken(headers, publicUrl), credential: body.credential };
      const { token, session } = await signInWithPasskey(deps, given, sourceOf({ requestId, ip, headers }));
      const isSecure = isSecureRequest(headers, publicUrl);
      return new Reply(session, {
        headers: { 'set-cookie': [clearedAttemptCookie(isSecure), sessionCookie(token, isSecure)] },
      });
    },
  };
}

/** Passkeys belong to a login with a password. A session of an identity provider has none. */
function emailOf({ session }: SignedIn): string {
  if (session.email === null) throw fail('password_not_used');
  return session.email;
}

const presentPasskey = (row: PasskeyRow) => ({
  object: 'passkey' as const,
  id: row.id,
  name: row.name,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
});
