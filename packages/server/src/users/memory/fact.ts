import { createHash } from 'node:crypto';
import type { Tenant } from '../../platform/caller.ts';
import type { MemoryItem } from './tables.ts';

/** Whose memory it is; `userId` null is the org's own agent. */
export type Owner = Tenant & { userId: string | null };

export type NewFact = Pick<MemoryItem, 'text' | 'kind' | 'source'>;

export const longestFact = 1000;
/** Beyond it the oldest of what nobody said themselves gives way. */
export const mostFacts = 2000;

/**
 * Two facts with the same fingerprint say the same. Only words that never tell two facts apart are left out, and the
 * order counts. Nearness of vectors is no ground to drop a fact: measured, "Meeting on Monday at ten" and "Meeting on
 * Tuesday at ten" are at 0.98, "is allergic" and "is not allergic" at 0.96, "Has two cats" and "Two cats" at 0.86. A fact
 * kept twice costs a line, a fact lost is lost.
 */
export function fingerprintOf(text: string): Buffer {
  const words = wordsIn(text);
  const telling = words.filter((word) => !saysNothing.has(word));
  const told = [telling.join(' '), words.join(' '), text.trim()].find((each) => each !== '') ?? '';
  return createHash('sha256').update(told, 'utf8').digest();
}

const saysNothing = new Set(['a', 'an', 'the', 'is', 'are']);
const sameWord: Record<string, string> = {
  own: 'has',
  owns: 'has',
  have: 'has',
  enjoy: 'likes',
  enjoys: 'likes',
  like: 'likes',
};

function wordsIn(text: string): string[] {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[‘’]/g, "'")
    .replace(/n't\b/g, ' not')
    .replace(/^ ?(the )?user('s)? /, '')
    .split(/\s+/)
    .map((word) => word.replace(/^[.,;:!?"'“”()[\]…]+|[.,;:!?"'“”()[\]…]+$/g, ''))
    .filter((word) => word !== '')
    .map((word) => (Object.hasOwn(sameWord, word) ? (sameWord[word] as string) : word));
}

/** One line of a prompt or of an answer. */
export const asLine = (text: string) => text.replace(/\s+/g, ' ').trim();
