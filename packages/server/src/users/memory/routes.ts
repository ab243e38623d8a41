import { fail } from '@vestra/contract/errors';
import { findSettings } from '../../account/index.ts';
import { createLimiter } from '../../platform/async/limiter.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { deleteAnswers } from '../../platform/http/idempotency.ts';
import type { FactRow, MemoryItem, ProfileRow } from '../tables.ts';
import { actingUser, requestedUserId } from '../users.ts';
import type { CustomerMemory } from './customer-memory.ts';
import type { Owner } from './fact.ts';
import type { Search } from './find-facts.ts';
import { findProfile, listFacts } from './store.ts';
import { forgetEverything, forgetFact, keepFacts, refusalOf, stopLearning } from './stored-facts.ts';

const factsInAnswer = 5;
/** A start needs no search, so its code is loaded with the first one. */
const loadSearch = () => import('./find-facts.ts');

export type MemoryDependencies = Search & {
  customer: CustomerMemory;
  /** Removes what traces and prompts would still tell of the owner's memories. Runs in the transaction of a deletion. */
  forgotten?: (tx: Transaction, tenant: Tenant, userId: string | null) => Promise<void>;
};

export function memoryRoutes(dependencies: MemoryDependencies): Handlers<'memory'> {
  const { db, customer, forgotten = async () => {} } = dependencies;
  // A request inside a transaction holds a connection, and slow endpoints must not use all of them.
  const limiter = createLimiter({ atOnce: 8, atOnceEach: 4, waitingEach: 64 });
  const modeOf = async (caller: Caller) => (await findSettings(db, caller)).memory_mode;
  const ownerAsked = async (caller: Caller, userId: string | undefined): Promise<Owner> => {
    return { orgId: caller.orgId, mode: caller.mode, userId: await requestedUserId(db, caller, userId) };
  };

  return {
    list: async ({ caller, query, page }) => {
      const owner = await ownerAsked(caller, query.user_id);
      const mode = await modeOf(caller);
      if (mode === 'none') return { data: [], next_cursor: null, profile: null };
      if (mode === 'customer') {
        const wanted = { limit: page.limit + 1, after: page.after?.[1] ?? null };
        const { data, profile = null } = await customer.list(db, owner, wanted);
        const shown = page.of(
          data,
          (item: MemoryItem) => item,
          (item) => [item.observed_at, item.id],
        );
        return { ...shown, profile };
      }
      const rows = await listFacts(db, owner, page);
      const profile = await findProfile(db, owner);
      const sortKey = (row: FactRow) => [row.observed_at.toISOString(), row.id];
      return { ...page.of(rows, presentFact, sortKey), profile: profile ? presentProfile(profile) : null };
    },
    create: async ({ caller, body, commit }) => {
      const mode = await modeOf(caller);
      if (mode === 'none') throw invalid('Memory is off for this org: its `memory_mode` is `none`.');
      const { text, kind } = body;
      const refused = refusalOf(text);
      if (refused !== null) throw invalid(refused);
      const fact = { text, kind, source: 'user_direct' as const };
      if (mode === 'customer') {
        const answer = await limiter.run(caller.orgId, () =>
          commit(async (tx) => customer.add(tx, await ownerOf(tx, caller, body.user_id), fact)),
        );
        if (answer !== null) return answer;
        throw fail('not_ready', { message: 'Many calls wait for the memory endpoint. Try again shortly.' });
      }
      const vector = await (await loadSearch()).vectorOf(dependencies, text);
      return commit(async (tx) => {
        const owner = await ownerOf(tx, caller, body.user_id);
        const [kept] = await keepFacts(tx, owner, { facts: [{ ...fact, vector }] });
        if (kept === undefined || 'refused' in kept) throw invalid(kept?.refused ?? 'It was not stored.');
        return presentFact(kept);
      });
    },
    search: async ({ caller, query, signal }) => {
      const owner = await ownerAsked(caller, query.user_id);
      const mode = await modeOf(caller);
      if (mode === 'none') return { query: query.q, found: false, text: null };
      if (mode === 'customer') {
        const { found, text } = await customer.search(db, owner, query.q, factsInAnswer);
        return { query: query.q, found, text: found ? text : null };
      }
      const facts = await (await loadSearch()).findFacts(dependencies, owner, {
        query: query.q,
        limit: factsInAnswer,
        signal,
      });
      const text = facts.map((fact) => fact.text).join('\n');
      return { query: query.q, found: facts.length > 0, text: facts.length > 0 ? text : null };
    },
    delete: async ({ caller, params, query }) => {
      const owner = await ownerAsked(caller, query.user_id);
      const id = params.memory_id;
      if ((await modeOf(caller)) !== 'customer') {
        await transaction(db, async (tx) => {
          await forgetFact(tx, owner, id);
          await forgotten(tx, owner, owner.userId);
        });
      } else {
        // Commit before the request, so that no fact from earlier text is sent to the endpoint afterwards.
        await transaction(db, async (tx) => {
          await stopLearning(tx, owner);
          await forgotten(tx, owner, owner.userId);
        });
        if (!(await customer.delete(db, owner, id)).deleted) throw fail('memory_not_found');
      }
      return { object: 'memory', id, deleted: true };
    },
    deleteAll: async ({ caller, query }) => {
      const owner = await ownerAsked(caller, query.user_id);
      // Delete facts that are stored here in every mode. Otherwise they would return after a change of the mode.
      const here = await transaction(db, async (tx) => {
        const gone = await forgetEverything(tx, owner);
        await deleteAnswers(tx, owner, { named: [], shownIds: gone });
        await forgotten(tx, owner, owner.userId);
        return gone.length;
      });
      const isElsewhere = (await modeOf(caller)) === 'customer';
      const elsewhere = isElsewhere ? (await customer.deleteAll(db, owner)).memories_deleted : 0;
      return { user_id: owner.userId, deleted: true, memories_deleted: here + elsewhere };
    },
  };
}

const invalid = (message: string) => fail('invalid_memory', { param: 'text', message });

async function ownerOf(tx: Transaction, caller: Caller, userId: string | undefined): Promise<Owner> {
  const user = await actingUser(tx, caller, userId);
  return { orgId: caller.orgId, mode: caller.mode, userId: user?.id ?? null };
}

const presentFact = ({ id, text, kind, source, observed_at }: FactRow): MemoryItem => ({
  object: 'memory',
  id,
  text,
  kind,
  source,
  observed_at: observed_at.toISOString(),
});

const presentProfile = ({ markdown, updated_at }: ProfileRow) => ({
  markdown,
  updated_at: updated_at.toISOString(),
});
