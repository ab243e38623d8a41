import { createHash, createHmac } from 'node:crypto';
import { Failure, fail } from '@vestra/contract/errors';
import { idOfDigest, newId } from '@vestra/contract/ids';
import { memory } from '@vestra/contract/memory';
import type { Mode } from '@vestra/contract/route';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  findSettings,
  lockSettings,
  type OrgSettings,
  openOwned,
  recordAudit,
  sealOwned,
  updateSettings,
} from '../../account/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { MemoryItem } from '../tables.ts';
import { fingerprintOf, type NewFact, type Owner } from './fact.ts';

const timeoutMs = 5000;
const { id: itemId, ...itemFields } = memory.create.response.shape;
/** Facts that an org had before may lack `object`, which says nothing. */
const item = z.object({ ...itemFields, id: itemId, object: itemFields.object.default('memory') });

/** The response to each action. Other fields are ignored. */
const responses = {
  list: z.object({ data: z.array(z.unknown()), profile: memory.list.response.shape.profile.optional() }),
  search: z.object({ found: z.boolean(), text: z.string().max(20_000).nullable() }),
  add: item,
  delete: z.object({ deleted: z.boolean() }),
  delete_all: z.object({ memories_deleted: z.int().min(0) }),
};

type EndpointResponse<Action extends keyof typeof responses> = z.infer<(typeof responses)[Action]>;

export type CustomerMemory = ReturnType<typeof createCustomerMemory>;

/** The memory of an org behind its own `memory_endpoint`. */
export function createCustomerMemory({
  outbound,
  signingSecret,
  vault,
  log,
}: {
  outbound: Outbound;
  signingSecret: Buffer;
  vault: Vault;
  log: Pick<Logger, 'warn'>;
}) {
  const reported = new Set<string>();
  const { unlessFailing } = createEndpointBreaker({
    opened: ({ orgId, mode }, error) =>
      log.warn({ err: error, org_id: orgId, mode }, 'a memory endpoint failed and is skipped for a while'),
  });

  async function ask<Action extends keyof typeof responses>(
    db: Executor,
    owner: Owner,
    action: Action,
    details: Record<string, unknown>,
  ): Promise<EndpointResponse<Action>> {
    const settings = await findSettings(db, owner);
    const { memory_endpoint } = settings;
    if (memory_endpoint === null) throw fail('memory_endpoint_required');
    const body = JSON.stringify({ action, mode: owner.mode, user_id: owner.userId, ...details });
    const secrets = [...(await secretsInForce({ db, vault, signingSecret }, owner, settings)).values()];
    const headers = { 'content-type': 'application/json', ...signatureHeaders(secrets, newId('msg'), body) };
    const answer = await outbound
      .fetch(memory_endpoint, { method: 'POST', headers, body, timeoutMs })
      .catch((error: unknown) => {
        if (error instanceof OutboundFailure) throw broken(error.message);
        throw error;
      });
    if (answer.status < 200 || answer.status > 299) throw broken(`It answered ${action} with ${answer.status}.`);
    return read(action, answer.body);
  }

  /** Drops items that are not facts, and fills the page up: a short one would count as the last. */
  async function list(db: Executor, owner: Owner, { limit, after }: { limit: number; after: string | null }) {
    const facts: MemoryItem[] = [];
    const first = await ask(db, owner, 'list', { limit, after });
    let { data } = first;
    let requested = limit;
    let from = after;
    /** Items after `from` that have no id to continue from. */
    let passed = 0;
    let dropped = 0;
    for (let calls = 1; ; calls++) {
      const items = data.slice(0, requested);
      for (const each of items.slice(passed)) {
        if (facts.length === limit) break;
        const fact = item.safeParse(each).data;
        if (fact) facts.push(fact);
        else dropped += 1;
        [from, passed] = hasId(each) ? [each.id, 0] : [from, passed + 1];
      }
      if (facts.length === limit || items.length < requested || calls === maxListCalls) break;
      requested = passed + itemsToFill;
      ({ data } = await ask(db, owner, 'list', { limit: requested, after: from }));
    }
    if (dropped > 0) reportDropped(owner, dropped);
    return { data: facts, profile: first.profile };
  }

  /** Once per org and process, since the agent lists memory with every message. */
  function reportDropped({ orgId, mode }: Tenant, count: number): void {
    const name = `${orgId} ${mode}`;
    if (reported.has(name)) return;
    reported.add(name);
    log.warn(
      { org_id: orgId, mode, dropped: count },
      'a memory endpoint lists items that are not facts; they are skipped',
    );
  }

  return {
    list,
    search: (db: Executor, owner: Owner, query: string, limit: number) => ask(db, owner, 'search', { query, limit }),
    add: (db: Executor, owner: Owner, fact: NewFact) => ask(db, owner, 'add', { memory: newItem(fact, newId('mem')) }),
    /** The id depends on the fact, so that a fact that is sent again after a crash is stored once. */
    addOnce: (db: Executor, owner: Owner, fact: NewFact) =>
      ask(db, owner, 'add', { memory: newItem(fact, idOfFact(owner, fact.text)) }),
    delete: (db: Executor, owner: Owner, id: string) => ask(db, owner, 'delete', { id }),
    deleteAll: (db: Executor, owner: Owner) => ask(db, owner, 'delete_all', {}),
    /** Asks any configured endpoint, whatever the org's mode: versions choose their own, so it may have facts. */
    forgetUser: async (db: Executor, tenant: Tenant, userId: string): Promise<void> => {
      if ((await findSettings(db, tenant)).memory_endpoint === null) return;
      await ask(db, { ...tenant, userId }, 'delete_all', {});
    },
    /** Throws at once if the endpoint failed recently. */
    unlessFailing,
    rollSecret: (tx: Transaction, origin: Origin) => rollEndpointSecret(tx, signingSecret, origin),
  };
}

/** Bounds the calls of one list, if the endpoint has many items that are not facts. */
const maxListCalls = 10;
const itemsToFill = 100;

const hasId = (each: unknown): each is { id: string } =>
  itemId.safeParse((each as { id?: unknown } | null)?.id).success;

/** The server proposes the id of a fact that it adds. */
const newItem = (fact: NewFact, id: string): MemoryItem => ({
  object: 'memory',
  id,
  ...fact,
  observed_at: new Date().toISOString(),
});

function idOfFact({ orgId, mode, userId }: Owner, text: string): string {
  const whose = JSON.stringify([orgId, mode, userId]);
  const digest = createHash('sha256').update(whose).update(fingerprintOf(text)).digest();
  return idOfDigest('mem', digest);
}

function read<Action extends keyof typeof responses>(action: Action, body: Uint8Array): EndpointResponse<Action> {
  const result = responses[action].safeParse(parse(body));
  if (result.success) return result.data as EndpointResponse<Action>;
  const [issue] = result.error.issues;
  const where = issue && issue.path.length > 0 ? ` at ${issue.path.join('.')}` : '';
  throw broken(`Its answer to ${action} is not what docs/memory.md asks for${where}.`);
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

const broken = (what: string) => fail('memory_endpoint_error', { message: `The memory endpoint failed. ${what}` });

/** The agent skips a failed endpoint for this long. */
const skipMs = 60_000;
/** One call tries the endpoint again while others skip it. After this time, the next call may try too. */
const probeMs = 15_000;

/** A circuit breaker, so that an endpoint that hangs delays one reply and not every reply. Each process has its own. */
export function createEndpointBreaker({
  opened,
  now = Date.now,
}: {
  /** Called once per outage. */
  opened: (tenant: Tenant, error: unknown) => void;
  now?: () => number;
}) {
  const passedOverUntil = new Map<string, number>();
  return {
    async unlessFailing<T>(tenant: Tenant, work: () => Promise<T>): Promise<T> {
      const name = `${tenant.orgId} ${tenant.mode}`;
      const until = passedOverUntil.get(name);
      if (until !== undefined && until > now()) throw passedOver();
      if (until !== undefined) passedOverUntil.set(name, now() + probeMs);
      try {
        const answer = await work();
        passedOverUntil.delete(name);
        return answer;
      } catch (error) {
        if (!(error instanceof Failure && error.code === 'memory_endpoint_error')) {
          // This error says nothing about the endpoint, so let the next call try it.
          if (until !== undefined) passedOverUntil.set(name, now());
          throw error;
        }
        // Report an outage once: not for concurrent failures, and not for a failed retry.
        const isNews = until === undefined && !passedOverUntil.has(name);
        passedOverUntil.set(name, now() + skipMs);
        if (isNews) opened(tenant, error);
        throw error;
      }
    },
  };
}

const passedOver = () =>
  fail('memory_endpoint_error', {
    message: 'The memory endpoint failed a moment ago and is not asked again before a minute is over.',
  });

type SecretSettings = Pick<OrgSettings, 'memory_secret_number' | 'memory_secret_rolled_at' | 'sealed_memory_secrets'>;

/** The means to find the secrets of an org. */
type SecretSource = { db: Executor; vault: Vault; signingSecret: Buffer };

/** After a roll, requests are also signed with the old secret for this long. */
const oldSecretMs = 24 * 3600 * 1000;

/**
 * The secret that signs requests to an org's memory endpoint, one per mode. It is derived from the secret that all
 * processes share. So it needs no row, and an operator can show it again.
 */
export function memoryEndpointSecret(
  signingSecret: Buffer,
  { orgId, mode }: Tenant,
  { memory_secret_number: number }: Pick<SecretSettings, 'memory_secret_number'>,
): string {
  const purpose = JSON.stringify(['memory-endpoint', orgId, mode, ...(number === 0 ? [] : [number])]);
  return `whsec_${createHmac('sha256', signingSecret).update(purpose).digest('base64')}`;
}

/** The current secret first, then the old one while it is valid, by number. */
async function secretsInForce(
  { db, vault, signingSecret }: SecretSource,
  tenant: Tenant,
  settings: SecretSettings,
): Promise<Map<number, string>> {
  const { memory_secret_number: number, memory_secret_rolled_at: rolledAt, sealed_memory_secrets: sealed } = settings;
  const isOldGood = rolledAt !== null && sharedNow() - rolledAt.getTime() < oldSecretMs;
  const numbers = isOldGood ? [number, number - 1] : [number];
  const moved = sealed === null ? {} : await openMovedSecrets(db, vault, tenant, sealed);
  return new Map(
    numbers.map((each) => [
      each,
      moved[each] ?? memoryEndpointSecret(signingSecret, tenant, { memory_secret_number: each }),
    ]),
  );
}

const movedPlace = (tenant: Tenant) => ({ kind: 'memory_endpoint' as const, tenant, owner: tenant.orgId });

/** An org that moved here keeps the secrets that its endpoint knows, until it rolls them. */
async function openMovedSecrets(
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  sealed: Buffer,
): Promise<Record<number, string>> {
  const [text = '{}'] = await openOwned(db, vault, movedPlace(tenant), [sealed]);
  return JSON.parse(text);
}

/** The secret that an operator shows. */
export async function currentMemorySecret(source: SecretSource, tenant: Tenant): Promise<string> {
  const settings = await findSettings(source.db, tenant);
  return (await secretsInForce(source, tenant, settings)).get(settings.memory_secret_number) as string;
}

/** The secrets in force of an org that moves, sealed under its data key: another installation derives other ones. */
export async function memorySecretsToMove(source: SecretSource, orgId: string): Promise<Record<Mode, Buffer>> {
  const seal = async (mode: Mode) => {
    const tenant = { orgId, mode };
    const secrets = await secretsInForce(source, tenant, await findSettings(source.db, tenant));
    return sealOwned(source.db, source.vault, movedPlace(tenant), JSON.stringify(Object.fromEntries(secrets)));
  };
  return { test: await seal('test'), live: await seal('live') };
}

/** The headers of Standard Webhooks, as in webhook deliveries. */
function signatureHeaders(secrets: readonly string[], id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = (secret: string) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  const signature = secrets.map(signed).join(' ');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'service-signature': signature,
  };
}

/** A new secret for the calls to the org's memory endpoint, shown this once. */
async function rollEndpointSecret(tx: Transaction, signingSecret: Buffer, origin: Origin) {
  const { memory_endpoint, memory_secret_number } = await lockSettings(tx, origin);
  if (memory_endpoint === null) throw fail('memory_endpoint_required');
  const settings = { memory_secret_number: memory_secret_number + 1, memory_secret_rolled_at: sharedDate() };
  await updateSettings(tx, origin, settings);
  await recordAudit(tx, origin, {
    action: 'memory_endpoint.secret_rolled',
    target: { type: 'org', id: origin.orgId },
  });
  const secret = memoryEndpointSecret(signingSecret, origin, settings);
  return { object: 'memory_endpoint' as const, url: memory_endpoint, secret };
}
