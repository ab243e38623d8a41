import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { findSettings } from '../orgs/store.ts';
import { readSecrets } from '../secrets/secrets.ts';
import type { TraceTarget } from './trace-exporter.ts';

type Dependencies = { db: Database; vault: Vault; now?: () => number };

const cachedMs = 5_000;
const maxCachedTargets = 10_000;

/** Reads the trace endpoint of a tenant from the org's settings. Changes take effect within a few seconds. */
export function createTraceTargets({
  db,
  vault,
  now = Date.now,
}: Dependencies): (tenant: Tenant) => Promise<TraceTarget> {
  const kept = new Map<string, { until: number; target: TraceTarget }>();

  return async (tenant) => {
    const name = `${tenant.orgId} ${tenant.mode}`;
    const known = kept.get(name);
    if (known && known.until > now()) return known.target;
    const target = await readTarget(db, vault, tenant);
    if (kept.size >= maxCachedTargets) kept.clear();
    kept.set(name, { until: now() + cachedMs, target });
    return target;
  };
}

async function readTarget(db: Database, vault: Vault, tenant: Tenant): Promise<TraceTarget> {
  const settings = await findSettings(db, tenant);
  const { otlp_endpoint: endpoint, otlp_headers_secret: secret, otlp_content: withContent } = settings;
  if (endpoint === null) return null;
  if (secret === null) return { endpoint, headers: {}, withContent };
  const value = (await readSecrets(db, vault, tenant, null, [secret])).get(secret);
  if (value === undefined) return { unusable: `The secret ${secret} is not stored in ${tenant.mode} mode.` };
  const headers = traceHeaders(value);
  if (headers) return { endpoint, headers, withContent };
  return { unusable: `The secret ${secret} is no JSON object of header names and values that HTTP can carry.` };
}

/** Parses the value of a secret as headers. Null if it is not a JSON object of valid HTTP headers. */
export function traceHeaders(value: string): Record<string, string> | null {
  const parsed = parse(value);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const headers = Object.entries(parsed);
  return headers.every(isSendable) ? Object.fromEntries(headers) : null;
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

function isSendable(header: [name: string, value: unknown]): header is [string, string] {
  const [name, value] = header;
  if (typeof value !== 'string') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
