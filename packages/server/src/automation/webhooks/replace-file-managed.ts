import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { type DeploymentRow, lockDeployment } from '../../agents/deployments/index.ts';
import type { FileObjects } from '../../agents/versions/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { giveSecret } from './endpoint-secrets.ts';
import { deleteEndpoints, insertEndpoint, lockFileManaged, updateEndpoint } from './store.ts';
import { differences, type EndpointFields } from './webhook.ts';

type Wanted = { deployment: DeploymentRow; mode: Mode; declared: FileObjects['webhooks'] };

/** An endpoint that a call made; its secret shows this once. */
export type MadeEndpoint = { endpoint_id: string; url: string; secret: string };

/**
 * Makes these, whose URLs differ, the only endpoints that the deployment's file has in this mode, and gives back those
 * that were new with their secrets. Applies at once are taken one after the other. The audit entry is that of the apply.
 */
export async function replaceFileEndpoints(
  tx: Transaction,
  vault: Vault,
  { deployment, mode, declared }: Wanted,
): Promise<MadeEndpoint[]> {
  await lockDeployment(tx, deployment.org_id, deployment.id);
  const before = new Map((await lockFileManaged(tx, deployment.id, mode)).map((row) => [row.url, row]));
  const urls = new Set(declared.map(({ url }) => url));
  await deleteEndpoints(
    tx,
    [...before.values()].filter(({ url }) => !urls.has(url)).map(({ id }) => id),
  );
  const made = [];
  for (const fields of declared.map(fieldsOf)) {
    const known = before.get(fields.url);
    if (known) {
      const changes = differences(known, fields);
      if (Object.keys(changes).length > 0) await updateEndpoint(tx, known.id, changes);
      continue;
    }
    const place = { id: newId('whk'), org_id: deployment.org_id, mode, deployment_id: deployment.id };
    const row = await insertEndpoint(tx, { ...fields, ...place, managed_by: 'file' });
    made.push({ endpoint_id: row.id, url: row.url, secret: await giveSecret(tx, vault, row) });
  }
  return made;
}

/**
 * An endpoint that is declared is on. One that was switched off because it failed has no other way to come back, since
 * it cannot be changed over the API.
 */
const fieldsOf = ({ url, events, description }: Wanted['declared'][number]): EndpointFields => ({
  url,
  events,
  // The file takes an empty description and none for the same.
  description: description || null,
  active: true,
});
