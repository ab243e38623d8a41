import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { idOfDigest, newId } from '@vestra/contract/ids';
import { memory } from '@vestra/contract/memory';
import type { Logger } from 'pino';
import { z } from 'zod';
import { findSettings } from '../../account/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { createEndpointBreaker } from './endpoint-breaker.ts';
import { secretsInForce, signatureHeaders } from './endpoint-signature.ts';
import { fingerprintOf, type NewFact, type Owner } from './fact.ts';
import { rollEndpointSecret } from './roll-endpoint-secret.ts';
import type { MemoryItem } from './tables.ts';

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
