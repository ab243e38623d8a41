import type { Database } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { signingSecrets } from './endpoint-secrets.ts';

type Endpoint = Parameters<typeof signingSecrets>[2];
type Remembered = { version: string; readAt: number; secrets: Promise<string[]> };

/** Bounds for how long an old secret still signs after its 24 hours. */
const longestMs = 60_000;
const mostRemembered = 1000;

/** The signing secrets of an endpoint in this version: a roll makes another, so a new secret is never missed. */
export function rememberSecrets(db: Database, vault: Vault) {
  const remembered = new Map<string, Remembered>();

  return (endpoint: Endpoint, version: string): Promise<string[]> => {
    const known = remembered.get(endpoint.id);
    if (known?.version === version && performance.now() - known.readAt < longestMs) return known.secrets;
    if (remembered.size >= mostRemembered) remembered.clear();
    const secrets = signingSecrets(db, vault, endpoint);
    remembered.set(endpoint.id, { version, readAt: performance.now(), secrets });
    secrets.catch(() => remembered.delete(endpoint.id));
    return secrets;
  };
}
