import { secretsIn, withSecretValues } from '@vestra/contract/secrets-in-text';
import { readSecrets } from '../account/index.ts';
import type { Database } from '../platform/db/pool.ts';
import type { Vault } from '../platform/secrets/vault.ts';
import type { GivenSecrets } from './redact.ts';
import type { Owner } from './store.ts';

export type Filled = { env: Record<string, string>; secrets: GivenSecrets };

/**
 * The variables of a command with the secrets in place, read at the moment of the call and kept nowhere. A variable that
 * needs a secret which the user has not stored is left out; one of the company's own that is missing is named.
 */
export async function fillEnvironment(
  { db, vault }: { db: Database; vault: Vault },
  owner: Owner,
  env: Readonly<Record<string, string>>,
): Promise<Filled | { missing: string[] }> {
  const { company, user } = secretsIn(Object.values(env).join('\n'));
  const ofCompany =
    company.length === 0 ? new Map<string, string>() : await readSecrets(db, vault, owner, null, company);
  const missing = company.filter((name) => !ofCompany.has(name));
  if (missing.length > 0) return { missing };
  const ofUser =
    user.length === 0 || owner.userId === null
      ? new Map<string, string>()
      : await readSecrets(db, vault, owner, owner.userId, user);
  const isComplete = (value: string) => secretsIn(value).user.every((name) => ofUser.has(name));
  const given = Object.entries(env).filter(([, value]) => isComplete(value));
  return {
    env: Object.fromEntries(
      given.map(([name, value]) => [name, withSecretValues(value, { company: ofCompany, user: ofUser })]),
    ),
    secrets: [...ofCompany, ...ofUser].map(([name, value]) => ({ name, value })),
  };
}

export const notStored = (names: readonly string[], { mode }: Owner): string =>
  `The company has not stored the secret ${names.join(', ')} in ${mode} mode.`;
