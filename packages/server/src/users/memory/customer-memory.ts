import { createHash, createHmac } from 'node:crypto';
import { Failure, fail } from '@vestra/contract/errors';
import { idOfDigest, newId } from '@vestra/contract/ids';
import { memory } from '@vestra/contract/memory';
import type { Logger } from 'pino';
import { z } from 'zod';
import { findSettings, lockSettings, type OrgSettings, recordAudit, updateSettings } from '../../account/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import type { MemoryItem } from '../tables.ts';
import { fingerprintOf, type NewFact, type Owner } from './fact.ts';

const timeoutMs = 5000;
const item = memory.create.response;

/** What the endpoint answers to each action. Fields beyond these are let be. */
const answers = {
  list: z.object({ data: z.array(item), profile: memory.list.response.shape.profile.optional() }),
  search: z.object({ found: z.boolean(), text: z.string().max(20_000).nullable() }),
  add: item,
  delete: z.object({ deleted: z.boolean() }),
  delete_all: z.object({ memories_deleted: z.int().min(0) }),
};

type Answer<Action extends keyof typeof answers> = z.infer<(typeof answers)[Action]>;

export type CustomerMemory = ReturnType<typeof createCustomerMemory>;

/** The memory that the org keeps on its own side, behind the `memory_endpoint` it has set. */
export function createCustomerMemory({
  outbound,
  signingSecret,
  log,
}: {
  outbound: Outbound;
  signingSecret: Buffer;
  log: Pick<Logger, 'warn'>;
}) {
  const { unlessAway } = createEndpointBreaker({
    opened: ({ orgId, mode }, error) =>
      log.warn({ err: error, org_id: orgId, mode }, 'a memory endpoint failed and is passed over for a while'),
  });

  async function ask<Action extends keyof typeof answers>(
    db: Executor,
    owner: Owner,
    action: Action,
    details: Record<string, unknown>,
  ): Promise<Answer<Action>> {
    const settings = await findSettings(db, owner);
    const { memory_endpoint } = settings;
    if (memory_endpoint === null) throw fail('memory_endpoint_required');
    const body = JSON.stringify({ action, mode: owner.mode, user_id: owner.userId, ...details });
    const secrets = secretsInForce(signingSecret, owner, settings);
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

  return {
    list: (db: Executor, owner: Owner, page: { limit: number; after: string | null }) =>
      ask(db, owner, 'list', page).then(({ data, profile }) => ({ data: data.slice(0, page.limit), profile })),
    search: (db: Executor, owner: Owner, query: string, limit: number) => ask(db, owner, 'search', { query, limit }),
    add: (db: Executor, owner: Owner, fact: NewFact) => ask(db, owner, 'add', { memory: newItem(fact, newId('mem')) }),
    /** With the same id whenever the same is told again, so that whatever was sent twice after a crash is kept once. */
    addOnce: (db: Executor, owner: Owner, fact: NewFact) =>
      ask(db, owner, 'add', { memory: newItem(fact, idOfFact(owner, fact.text)) }),
    delete: (db: Executor, owner: Owner, id: string) => ask(db, owner, 'delete', { id }),
    deleteAll: (db: Executor, owner: Owner) => ask(db, owner, 'delete_all', {}),
    /** An endpoint that is set may hold facts, whoever keeps them now: a version decides for its own conversations. */
    forgetUser: async (db: Executor, tenant: Tenant, userId: string): Promise<void> => {
      if ((await findSettings(db, tenant)).memory_endpoint === null) return;
      await ask(db, { ...tenant, userId }, 'delete_all', {});
    },
    /** Where the memory is the org's own and has just failed, the work is not begun. */
    unlessAway,
    rollSecret: (tx: Transaction, origin: Origin) => rollEndpointSecret(tx, signingSecret, origin),
  };
}

/** The id is ours, so that every memory has one of the contract's kind. */
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

function read<Action extends keyof typeof answers>(action: Action, body: Uint8Array): Answer<Action> {
  const result = answers[action].safeParse(parse(body));
  if (result.success) return result.data as Answer<Action>;
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

/** For so long an endpoint that failed is asked nothing more on the agent's behalf. */
const passedOverMs = 60_000;
/** While one call tries it again the others go on without; a try that never ends is given up for the next. */
const tryMs = 15_000;

/**
 * An endpoint that hangs costs one reply its patience, and not every reply. Known to this process alone: another one
 * learns it by a wait of its own.
 */
export function createEndpointBreaker({
  opened,
  now = Date.now,
}: {
  /** Told once for each outage. */
  opened: (tenant: Tenant, error: unknown) => void;
  now?: () => number;
}) {
  const passedOverUntil = new Map<string, number>();
  return {
    async unlessAway<T>(tenant: Tenant, work: () => Promise<T>): Promise<T> {
      const name = `${tenant.orgId} ${tenant.mode}`;
      const until = passedOverUntil.get(name);
      if (until !== undefined && until > now()) throw passedOver();
      if (until !== undefined) passedOverUntil.set(name, now() + tryMs);
      try {
        const answer = await work();
        passedOverUntil.delete(name);
        return answer;
      } catch (error) {
        if (!(error instanceof Failure && error.code === 'memory_endpoint_error')) {
          // Nothing was learnt of the endpoint: the next call tries it.
          if (until !== undefined) passedOverUntil.set(name, now());
          throw error;
        }
        // Of several that waited at once the first tells it; one that failed again is no news.
        const isNews = until === undefined && !passedOverUntil.has(name);
        passedOverUntil.set(name, now() + passedOverMs);
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

type SecretSettings = Pick<OrgSettings, 'memory_secret_number' | 'memory_secret_rolled_at'>;

/** After a new secret is given, whoever receives the calls has so long to take it up. */
const oldSecretMs = 24 * 3600 * 1000;

/**
 * What the calls to an org's memory endpoint are signed with, one for each mode. Made from the secret that every
 * process of the server shares, so that it needs no row and an operator can show it again.
 */
export function memoryEndpointSecret(
  signingSecret: Buffer,
  { orgId, mode }: Tenant,
  { memory_secret_number: number }: Pick<SecretSettings, 'memory_secret_number'>,
): string {
  const purpose = JSON.stringify(['memory-endpoint', orgId, mode, ...(number === 0 ? [] : [number])]);
  return `whsec_${createHmac('sha256', signingSecret).update(purpose).digest('base64')}`;
}

/** The newest first. */
function secretsInForce(signingSecret: Buffer, tenant: Tenant, settings: SecretSettings): string[] {
  const { memory_secret_number: number, memory_secret_rolled_at: rolledAt } = settings;
  const isOldGood = rolledAt !== null && sharedNow() - rolledAt.getTime() < oldSecretMs;
  const numbers = isOldGood ? [number, number - 1] : [number];
  return numbers.map((each) => memoryEndpointSecret(signingSecret, tenant, { memory_secret_number: each }));
}

/** The headers of Standard Webhooks, as deliveries of events have them. */
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
