import { createHash } from 'node:crypto';
import type { Tenant } from '../../platform/caller.ts';
import type { MemoryItem } from '../tables.ts';

/** The owner of a memory. `userId` is null for the org's own agent. */
export type Owner = Tenant & { userId: string | null };

export type NewFact = Pick<MemoryItem, 'text' | 'kind' | 'source'>;

export const maxFactLength = 1000;
/** Beyond this, the oldest facts that the user did not state directly are deleted. */
export const maxFacts = 2000;

/**
 * Two facts with the same fingerprint mean the same. It ignores only words that never distinguish two facts, and
 * respects their order. Similar vectors are no reason to drop a fact. Measured: "Meeting on Monday at ten" and "Meeting
 * on Tuesday at ten" have a similarity of 0.98, "is allergic" and "is not allergic" 0.96, "Has two cats" and "Two cats"
 * 0.86. Storing a fact twice costs a line. Dropping it loses it.
 */
export function fingerprintOf(text: string): Buffer {
  const words = wordsIn(text);
  const significant = words.filter((word) => !stopWords.has(word));
  const compared = [significant.join(' '), words.join(' '), text.trim()].find((each) => each !== '') ?? '';
  return createHash('sha256').update(compared, 'utf8').digest();
}

const stopWords = new Set(['a', 'an', 'the', 'is', 'are']);
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

/** Joins a text into one line. */
export const asLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/**
 * The reason why a text must not be remembered, or null. Memories are part of every later prompt. The agent would
 * follow stored instructions again and again, and send a stored secret with each message.
 */
export function unfitFact(text: string): string | null {
  const plain = text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/g, ' ');
  if (orders.some((order) => order.test(plain))) return 'It reads like an instruction to the agent, not like a fact.';
  if (namedSecret.test(plain) || secretShapes.some((shape) => shape.test(plain)))
    return 'It holds a password, a key or another secret. Store it as a secret instead.';
  if (holdsCardNumber(plain)) return 'It holds the number of a payment card.';
  return null;
}

const rules = '(instructions?|rules?|guidelines?|prompts?|polic(y|ies)|restrictions?|guardrails?|safeguards?|limits)';
const orders = [
  new RegExp(
    `\\b(ignore|disregard|forget|override|bypass|overrule)\\b.{0,30}\\b(your|previous|prior|above|earlier|preceding|all|any|system|safety|these)\\b.{0,30}\\b${rules}\\b`,
    'i',
  ),
  /\b(system prompt|developer (message|mode)|jailbreak)\b/i,
  /\byou are (now|no longer)\b/i,
  /\b(pretend|act as if|act like) (you|to be)\b/i,
  /^ ?(system|assistant|developer) ?:/i,
  /<\/?(system|instructions?|data-)/i,
  /\b(reveal|print|repeat|output|show)\b.{0,30}\byour\b.{0,20}\b(prompt|instructions?|secrets?|keys?)\b/i,
  /\b(without|skip|skips|skipping|bypass)\b.{0,20}\b(approvals?|asking for approval|confirmation)\b/i,
  /\b(do not|don.?t|never) (tell|inform|ask|warn) the user\b/i,
];

const secretNames =
  'pass ?words?|pass ?phrases?|pass ?codes?|pin|pin (?:code|number)|cvv|cvc|api[ _-]?keys?|(?:access|auth|bearer|refresh|session) tokens?|private keys?|secret keys?|client secrets?|one[- ]time (?:code|password)|otp|2fa code|security code|recovery (?:code|phrase)|seed phrase';
/** A secret with its value. That a user forgot a password is an ordinary fact. */
const namedSecret = new RegExp(
  `\\b(?:${secretNames})\\b(?: (?:for|of|to|on|at) [^.;:=]{1,60}?)? ?(?:\\bis\\b|\\bare\\b|\\bwas\\b|:|=) ?(?!(?:forgotten|lost|expired|unknown|wrong|locked|too|not|reset|changed|missing|required)\\b)\\S`,
  'i',
);

const secretShapes = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(sk|pk|rk)[_-](live|test|ant|proj)[_-][\w-]{8,}/,
  /\b(vk_(test|live)|vst|whsec|ghp|gho|ghs|github_pat|glpat|xox[abprs])[_-][\w-]{10,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bAIza[\w-]{30,}/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  // Long, with upper case, lower case and digits: no word, number or order id looks like this.
  /(?<![\w/+-])(?=[\w/+=-]*[a-z])(?=[\w/+=-]*[A-Z])(?=[\w/+=-]*\d)[\w/+=-]{32,}(?![\w/+=-])/,
];

/** Finds groups of digits that are 13 to 19 digits together, with the check digit of card numbers. */
function holdsCardNumber(text: string): boolean {
  const runs = text.replace(bankAccount, ' ').match(/\d(?:[ -]?\d){12,}/g) ?? [];
  return runs.some((run) => {
    const groups = run.split(/[ -]/);
    return groups.some((_, from) => beginsCardNumber(groups.slice(from, from + 19)));
  });
}

function beginsCardNumber(groups: readonly string[]): boolean {
  let digits = '';
  for (const group of groups) {
    digits += group;
    if (digits.length > 19) return false;
    if (isCardNumber(digits)) return true;
  }
  return false;
}

/** An IBAN has as many digits, and one in ten would pass the check of a card number. */
const bankAccount = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b/g;

const isCardNumber = (digits: string) => /^[1-9]\d{12,18}$/.test(digits) && hasCheckDigit(digits);

function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
