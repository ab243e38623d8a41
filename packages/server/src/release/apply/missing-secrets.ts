import { type Fault, fail } from '@vestra/contract/errors';
import { secretsIn } from '@vestra/contract/secrets-in-text';
import { storedSecretNames } from '../../account/index.ts';
import { findById } from '../../agents/tool-servers/index.ts';
import type { FileObjects, FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { fault } from './faults.ts';
import { asRepo, type FileParts, type PlacedValue, type SettingParts } from './parts.ts';

/** One fault for each reference to a secret that is not stored in this mode, and the names of the secrets. */
export async function missingSecretFaults(
  tx: Transaction,
  { tenant, needs }: { tenant: Tenant; needs: readonly PlacedValue<string>[] },
): Promise<{ faults: Fault[]; names: string[] }> {
  const names = await missingOf(tx, tenant, [...new Set(needs.map(({ value }) => value))]);
  const faults = needs
    .filter(({ value }) => names.includes(value))
    .map(({ at, value }) => fault('secret_missing', at, notStored([value], tenant)));
  return { faults, names };
}

type SavedVersion = { tenant: Tenant; manifest: Manifest; content: FixedContent; file_objects: FileObjects };

/** Secrets of the org that a version needs and that are not stored in this mode. */
export async function missingSecretsOfVersion(
  tx: Transaction,
  { tenant, manifest, content, file_objects }: SavedVersion,
): Promise<string[]> {
  const ids = manifest.mcp_servers.map(({ id }) => id);
  const servers = ids.length === 0 ? [] : await findById(tx, tenant.orgId, ids, { hold: false });
  const fixed = servers.map(({ id, headers }) => content.servers?.[id]?.headers ?? headers);
  const ofWebhooks = file_objects.webhooks.flatMap(({ secret }) => (secret === undefined ? [] : [{ secret }]));
  return missingOf(tx, tenant, secretsOfVersion(manifest, [...fixed, ...ofWebhooks]));
}

export async function assertSecretsStored(tx: Transaction, version: SavedVersion): Promise<void> {
  const names = await missingSecretsOfVersion(tx, version);
  if (names.length > 0) throw fail('secret_missing', { names, message: notStored(names, version.tenant) });
}

async function missingOf(tx: Transaction, tenant: Tenant, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const stored = await storedSecretNames(tx, tenant, names);
  return names.filter((name) => !stored.has(name)).sort();
}

const notStored = (names: readonly string[], { mode }: Tenant) =>
  names.length === 1
    ? `The secret ${names[0]} is not stored in ${mode} mode. Store it first.`
    : `The secrets ${names.join(', ')} are not stored in ${mode} mode. Store them first.`;

/** References to secrets of the org. Secrets of users are never missing. */
export const companySecrets = (texts: readonly PlacedValue<string>[]): PlacedValue<string>[] =>
  texts.flatMap(({ at, value }) => secretsIn(value).company.map((name) => ({ at, value: name })));

/** References of the computer: its variables and the tokens of its repositories. */
export const computerSecrets = ({ env, repos }: Pick<SettingParts, 'env' | 'repos'>): PlacedValue<string>[] =>
  companySecrets([
    ...env,
    ...repos.flatMap(({ at, value: { token } }) => (token === undefined ? [] : [{ at: `${at}.token`, value: token }])),
  ]);

/** References of the webhooks. */
export const webhookSecretsOf = ({ webhooks }: Pick<FileParts, 'webhooks'>): PlacedValue<string>[] =>
  companySecrets(
    webhooks.flatMap(({ at, value: { secret } }) =>
      secret === undefined ? [] : [{ at: `${at}.secret`, value: secret }],
    ),
  );

/** References of the tests, which stand in for secrets of users. */
export const testSecretsOf = ({ tests }: Pick<FileParts, 'tests'>): PlacedValue<string>[] =>
  companySecrets(
    tests.flatMap(({ at, value }) =>
      Object.entries(value.as?.secrets ?? {}).map(([name, text]) => ({ at: `${at}.as.secrets.${name}`, value: text })),
    ),
  );

/** All secrets of the org that a version needs, given the headers of its servers and the secrets of its webhooks. */
function secretsOfVersion({ environment }: Manifest, beside: readonly Readonly<Record<string, string>>[]): string[] {
  const tokens = environment?.repos.flatMap((repo) => asRepo(repo).token ?? []) ?? [];
  const texts = [
    ...beside.flatMap((texts) => Object.values(texts)),
    ...Object.values(environment?.env ?? {}),
    ...tokens,
  ];
  return [...new Set(texts.flatMap((text) => secretsIn(text).company))];
}
