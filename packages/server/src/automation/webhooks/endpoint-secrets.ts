import { openOwned, sealOwned } from '../../account/index.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { insertSecret, secretsInForce } from './store.ts';
import type { EndpointRow } from './tables.ts';
import { newSecret } from './webhook.ts';

type Endpoint = Pick<EndpointRow, 'id' | 'org_id' | 'mode'>;

const placeOf = ({ id, org_id, mode }: Endpoint) => ({
  kind: 'webhook_secret' as const,
  tenant: { orgId: org_id, mode },
  owner: id,
});

/** Makes the secret that the endpoint uses from now on. It leaves this process once, in the answer of the call. */
export async function giveSecret(tx: Transaction, vault: Vault, endpoint: Endpoint): Promise<string> {
  const secret = newSecret();
  await insertSecret(tx, endpoint.id, await sealOwned(tx, vault, placeOf(endpoint), secret));
  return secret;
}

/** What a delivery is signed with: the secret in use first, then those that a roll replaced within 24 hours. */
export async function signingSecrets(db: Executor, vault: Vault, endpoint: Endpoint): Promise<string[]> {
  const rows = await secretsInForce(db, endpoint.id);
  return openOwned(
    db,
    vault,
    placeOf(endpoint),
    rows.map(({ sealed_secret }) => sealed_secret),
  );
}
