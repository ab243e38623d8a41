import type { AwayReason } from '@vestra/contract/missing-tools';
import type { Tenant } from '../../platform/caller.ts';
import { fingerprintOf, hiding, type ServerAccess } from './server-access.ts';
import type { SignedIn, SignIns } from './sign-ins.ts';

/** The servers that the user is signed in to, by their slugs. Like those of the company, but nobody has set rules for them. */
export async function reachApps(
  signIns: SignIns,
  tenant: Tenant,
  userId: string | null,
  wanted: 'all' | readonly string[],
): Promise<Map<string, ServerAccess>> {
  if (wanted !== 'all' && wanted.length === 0) return new Map();
  const found = await signIns.of(tenant, userId, wanted);
  return new Map(found.map((each) => [each.slug, accessOf(each)]));
}

function accessOf({ slug, connectionId, credential }: SignedIn): ServerAccess {
  const server = { slug, deny: [], require_approval: [], sampling: false };
  const away = (reason: AwayReason, message: string): ServerAccess => ({
    ok: false,
    server,
    reason,
    message,
    isPersonal: true,
  });
  if (credential.kind === 'over') return away('sign_in_over', 'The sign-in is over: the person must sign in anew.');
  if (credential.kind === 'unavailable') return away('unreachable', 'The sign-in could not be renewed just now.');
  const { token, target, refused } = credential;
  return {
    ok: true,
    server,
    target,
    hide: hiding([token]),
    fingerprint: fingerprintOf([connectionId, target.url, token]),
    refused: async () => accessOf(await refused()),
    isPersonal: true,
  };
}
