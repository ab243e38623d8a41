import { fail } from '@vestra/contract/errors';
import { openOwned, recordAudit, sealOwned } from '../../account/index.ts';
import { assertMayRoll, newSecret } from '../../automation/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { presentEndpoint } from './present.ts';
import { deleteEndpoint, insertSecret, lockEndpoint, putEndpoint, retireSecrets, secretsInForce } from './store.ts';

/** The secret leaves this process once, where the endpoint is new; another address keeps it. */
export async function setEndpoint(tx: Transaction, vault: Vault, origin: Origin, deploymentId: string, url: string) {
  const before = await lockEndpoint(tx, origin, deploymentId);
  const row = before?.url === url ? before : await putEndpoint(tx, origin, deploymentId, url);
  const hasSecret = (await secretsInForce(tx, origin, deploymentId)).length > 0;
  const secret = hasSecret ? null : await giveSecret(tx, vault, origin, deploymentId);
  if (row !== before) await audit(tx, origin, deploymentId, before ? 'updated' : 'created');
  return { ...presentEndpoint(row), ...(secret !== null && { secret }) };
}

export async function removeEndpoint(tx: Transaction, origin: Origin, deploymentId: string): Promise<void> {
  if (!(await deleteEndpoint(tx, origin, deploymentId))) throw fail('function_endpoint_not_found');
  await audit(tx, origin, deploymentId, 'deleted');
}

export async function rollSecret(tx: Transaction, vault: Vault, origin: Origin, deploymentId: string) {
  const row = await lockEndpoint(tx, origin, deploymentId);
  if (!row) throw fail('function_endpoint_not_found');
  assertMayRoll(await secretsInForce(tx, origin, deploymentId), sharedDate());
  await retireSecrets(tx, origin, deploymentId);
  const secret = await giveSecret(tx, vault, origin, deploymentId);
  await audit(tx, origin, deploymentId, 'secret_rolled');
  return { ...presentEndpoint(row), secret };
}

/** What a call is signed with: the secret in use first, then those that a roll replaced within 24 hours. */
export async function signingSecrets(
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  deploymentId: string,
): Promise<string[]> {
  const rows = await secretsInForce(db, tenant, deploymentId);
  const sealed = rows.map(({ sealed_secret }) => sealed_secret);
  return openOwned(db, vault, placeOf(tenant, deploymentId), sealed);
}

async function giveSecret(tx: Transaction, vault: Vault, tenant: Tenant, deploymentId: string): Promise<string> {
  const secret = newSecret();
  await insertSecret(tx, tenant, deploymentId, await sealOwned(tx, vault, placeOf(tenant, deploymentId), secret));
  return secret;
}

const placeOf = (tenant: Tenant, deploymentId: string) => ({
  kind: 'function_endpoint' as const,
  tenant,
  owner: deploymentId,
});

/** Not the URL: receivers of many kinds carry their credential in its path or query. */
const audit = (tx: Transaction, origin: Origin, deploymentId: string, what: string) =>
  recordAudit(tx, origin, {
    action: `function_endpoint.${what}`,
    target: { type: 'deployment', id: deploymentId },
  });
