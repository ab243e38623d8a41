import type { Ask } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import type { OrgSettings } from '../../account/index.ts';
import { createLimiter } from '../../platform/async/limiter.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { sqlState } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { findUser } from '../store.ts';
import type { FactRow } from '../tables.ts';
import type { CustomerMemory } from './customer-memory.ts';
import { type ExtractedFacts, type KnownFact, keepTurn, type Passage, type TranscriptLine } from './extract-facts.ts';
import { asLine, type NewFact, type Owner } from './fact.ts';
import type { Search } from './find-facts.ts';
import { countFacts, kindsInOrder, listFacts, newestOfEachKind, type StoredVector } from './store.ts';
import {
  DeletedMeanwhile,
  type DeletionState,
  deletionStateOf,
  keepFacts,
  lockToLearn,
  type MayLearn,
  refusalOf,
  unchangedSince,
} from './stored-facts.ts';

type MemoryMode = OrgSettings['memory_mode'];
/** The user and the memory mode. The mode comes from the deployment version, not from the org. */
type MemoryScope = { userId: string | null; mode: MemoryMode };

/** The memory of the agent. */
export type Memory = {
  /** The facts that match the query best. Throws if the org's endpoint fails. */
  recall: (
    tenant: Tenant,
    request: MemoryScope & { query: string; limit: number },
  ) => Promise<Pick<FactRow, 'text' | 'kind'>[]>;
  /** The facts for a prompt, at most twelve lines. Never throws. Null: the memory is unreachable. */
  promptFacts: (tenant: Tenant, request: MemoryScope & { query: string }) => Promise<string[] | null>;
  /**
   * Stores one fact. A known fact keeps its id. `isSaidSince` decides whether the fact comes from text after the user's
   * last deletion of memories.
   */
  remember: (
    tenant: Tenant,
    request: MemoryScope & NewFact & { isSaidSince: (deletion: Date) => boolean },
  ) => Promise<{ id: string } | { refused: string }>;
  /** Call this before reading the messages for `keepTurn`. */
  standing: (tenant: Tenant, userId: string | null) => Promise<DeletionState>;
  /**
   * Lets the model extract facts from the conversation, and stores them. Throws `DeletedMeanwhile` and stores nothing
   * if memories were deleted since `standing`.
   */
  keepTurn: (tenant: Tenant, request: MemoryScope & TurnToRead) => Promise<void>;
};

type TurnToRead = {
  lines: readonly TranscriptLine[];
  passages: readonly Passage[];
  ask: Ask;
  standing: DeletionState;
  /** Records that the turn was read, in the transaction that stores the facts. If it throws, nothing is stored. */
  looked: (tx: Transaction) => Promise<void>;
};

/** A start needs no search, so its code is loaded with the first one. */
const loadSearch = () => import('./find-facts.ts');

const maxLines = 12;
const linesOfProfile = 6;
const maxLineLength = 400;
/** The number of known facts that the model sees. */
const knownShown = 12;
const off = 'Memory is off.';
const userGone = 'The user does not exist any more.';
const saidBeforeDeletion =
  'The user has deleted memories. Only what they have written since then can be remembered: ask them to say it again.';
const foreignKeyViolation = '23503';

type Dependencies = Search & {
  customer: CustomerMemory;
  /** The maximum wait of a reply for embeddings, which may have to be loaded. After that, it uses words alone. */
  patienceMs?: number;
};

export function createMemory(dependencies: Dependencies): Memory {
  const { db, customer, log, patienceMs = 250 } = dependencies;
  // A request inside a transaction holds a connection, and slow endpoints must not use all of them.
  const limiter = createLimiter({ atOnce: 4, atOnceEach: 2, waitingEach: 64 });

  async function recall(tenant: Tenant, { userId, mode, query, limit }: Parameters<Memory['recall']>[1]) {
    const owner = { ...tenant, userId };
    if (mode === 'none') return [];
    if (mode === 'vestra')
      return (await (await loadSearch()).findFacts(dependencies, owner, { query, limit })).map(textAndKind);
    const { found, text } = await customer.unlessFailing(owner, () => customer.search(db, owner, query, limit));
    const lines = found ? linesOf(text ?? '') : [];
    return lines.slice(0, limit).map((line) => ({ text: line, kind: 'other' as const }));
  }

  async function promptFacts(tenant: Tenant, { userId, mode, query }: Parameters<Memory['promptFacts']>[1]) {
    const owner = { ...tenant, userId };
    if (mode === 'none') return [];
    try {
      return asPrompt(mode === 'vestra' ? await factsHere(owner, query) : await factsThere(owner, query));
    } catch (error) {
      // The circuit breaker logs failures of an endpoint once per outage.
      if (mode === 'vestra') log.warn({ err: error, org_id: tenant.orgId }, 'built a prompt without memory');
      return null;
    }
  }

  async function factsHere(owner: Owner, query: string): Promise<string[]> {
    const count = await countFacts(db, owner);
    if (count === 0) return [];
    const byKind = (a: FactRow, b: FactRow) => kindsInOrder.indexOf(a.kind) - kindsInOrder.indexOf(b.kind);
    // All facts fit into the prompt, so skip the search.
    if (count <= maxLines)
      return (await listFacts(db, owner, { limit: maxLines, after: null })).sort(byKind).map(textOf);
    const profile = (await newestOfEachKind(db, owner)).sort(byKind).slice(0, linesOfProfile);
    const signal = AbortSignal.timeout(patienceMs);
    const best = await (await loadSearch()).findFacts(dependencies, owner, { query, limit: maxLines, signal });
    return [...profile, ...best].map(textOf);
  }

  async function factsThere(owner: Owner, query: string): Promise<string[]> {
    const [{ data, profile }, { found, text }] = await customer.unlessFailing(owner, () =>
      Promise.all([
        customer.list(db, owner, { limit: linesOfProfile, after: null }),
        customer.search(db, owner, query, maxLines),
      ]),
    );
    const newest = profile ? linesOf(profile.markdown).filter((line) => !line.startsWith('#')) : data.map(textOf);
    return [...newest.slice(0, linesOfProfile), ...(found ? linesOf(text ?? '') : [])];
  }

  async function remember(tenant: Tenant, { userId, mode, isSaidSince, ...fact }: Parameters<Memory['remember']>[1]) {
    const refused = mode === 'none' ? off : refusalOf(fact.text);
    if (refused !== null) return { refused };
    const mayLearn: MayLearn = ({ forgottenAt }) => {
      if (forgottenAt !== null && !isSaidSince(forgottenAt)) throw new DeletedMeanwhile(saidBeforeDeletion);
    };
    try {
      const [kept] = await keep({ ...tenant, userId }, mode, { facts: [fact], outdated: [] }, mayLearn);
      return kept ?? { refused: 'It was not stored.' };
    } catch (error) {
      if (error instanceof DeletedMeanwhile) return { refused: error.message };
      throw error;
    }
  }

  async function keep(
    owner: Owner,
    mode: MemoryMode,
    { facts, outdated }: { facts: readonly NewFact[]; outdated: readonly string[] },
    mayLearn: MayLearn,
    looked: (tx: Transaction) => Promise<void> = async () => {},
  ): Promise<({ id: string } | { refused: string })[]> {
    if (mode === 'customer') {
      const kept: ({ id: string } | { refused: string })[] = [];
      for (const fact of facts) kept.push(await send(owner, fact, mayLearn));
      await transaction(db, looked);
      return kept;
    }
    const withVectors: (NewFact & { vector: StoredVector })[] = [];
    for (const fact of facts)
      withVectors.push({ ...fact, vector: await (await loadSearch()).vectorOf(dependencies, fact.text) });
    try {
      const kept = await transaction(db, async (tx) => {
        const isEmpty = facts.length === 0 && outdated.length === 0;
        if (!isEmpty) await lockToLearn(tx, owner, mayLearn);
        const rows = isEmpty ? [] : await keepFacts(tx, owner, { facts: withVectors, outdated });
        await looked(tx);
        return rows;
      });
      return kept.map((each) => ('refused' in each ? each : { id: each.id }));
    } catch (error) {
      // The user was erased while the agent was still running.
      if (sqlState(error) !== foreignKeyViolation) throw error;
      return facts.map(() => ({ refused: userGone }));
    }
  }

  /**
   * Sends one fact to the endpoint while holding the lock of the memory. A concurrent deletion waits, so that the
   * endpoint gets it after the fact. Sends nothing for a user who is being erased.
   */
  async function send(owner: Owner, fact: NewFact, mayLearn: MayLearn): Promise<{ id: string } | { refused: string }> {
    const sent = await limiter.run(owner.orgId, () =>
      transaction(db, async (tx) => {
        await lockToLearn(tx, owner, mayLearn);
        const user = owner.userId === null ? null : await findUser(tx, owner, owner.userId);
        if (user === undefined || user?.erasing_since) return { refused: userGone };
        const { id } = await customer.unlessFailing(owner, () => customer.addOnce(tx, owner, fact));
        return { id };
      }),
    );
    if (sent === null)
      throw fail('not_ready', { message: 'Many calls wait for the memory endpoint. Try again shortly.' });
    return sent;
  }

  /**
   * Known facts about the topic. Facts from the org's endpoint have no id, so the model cannot mark them as outdated.
   */
  async function knownAbout(owner: Owner, mode: MemoryMode, query: string): Promise<KnownFact[]> {
    if (mode === 'vestra') return (await loadSearch()).findFacts(dependencies, owner, { query, limit: knownShown });
    const found = await recall(owner, { userId: owner.userId, mode, query, limit: knownShown });
    return found.map(({ text }) => ({ id: null, text }));
  }

  return {
    recall,
    promptFacts,
    remember,
    standing: (tenant, userId) => deletionStateOf(db, { ...tenant, userId }),
    keepTurn: async (tenant, { userId, mode, standing, looked, ...turn }) => {
      const owner = { ...tenant, userId };
      if (mode === 'none') return;
      await keepTurn({
        ...turn,
        knownAbout: (query) => knownAbout(owner, mode, query),
        keep: (found: ExtractedFacts) => keep(owner, mode, found, unchangedSince(standing), looked),
      });
    },
  };
}

const textOf = ({ text }: { text: string }) => text;
const textAndKind = ({ text, kind }: FactRow) => ({ text, kind });

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.replace(/^[-*] /, '').trim())
    .filter((line) => line !== '');

const asPrompt = (texts: readonly string[]) =>
  [...new Set(texts.map((text) => asLine(text).slice(0, maxLineLength).toWellFormed()))].slice(0, maxLines);
