import type { ModelRequest } from '@vestra/agent/model';
import { sentencesOf } from './sentences.ts';
import { situationOf } from './situation.ts';

type Fact = { text: string; kind: string; said_by_user: boolean };

const mostFacts = 10;
const longestSentence = 300;

/**
 * Extracts what the user plainly said about themselves. The last message contains the known facts in numbered lines
 * (`1. …`) and the conversation in lines that begin with `User:` or `Agent:`.
 */
export function keepMemory(request: ModelRequest): { facts: Fact[]; outdated: number[] } {
  const { asked } = situationOf(request);
  const known = new Set([...asked.matchAll(/^\d+\. (.+)$/gm)].map((match) => wordsOf(match[1] as string)));
  const facts = userLines(asked)
    .flatMap(sentencesOf)
    .flatMap(statements)
    .flatMap((statement) => factOf(statement) ?? [])
    .filter(({ text }, at, all) => !known.has(wordsOf(text)) && all.findIndex((other) => other.text === text) === at)
    .slice(0, mostFacts);
  return { facts, outdated: [] };
}

/** "Remember that I like tea" contains one fact about the user. */
export function asFact(request: string): string {
  const [statement = request] = statements(request);
  return `${aboutTheUser(statement)}.`;
}

const wordsOf = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');

/** A line without a speaker continues the previous one. Text before the first speaker is ignored. */
function userLines(text: string): string[] {
  let isUser = false;
  return text.split('\n').flatMap((line) => {
    const speaker = /^(User|Agent):(.*)$/.exec(line);
    if (speaker) isUser = speaker[1] === 'User';
    if (/^<\/?data-/.test(line)) isUser = false;
    return isUser ? [speaker ? (speaker[2] as string).trimStart() : line] : [];
  });
}

/** "My name is Ana and I am allergic to nuts" contains two facts. */
function statements(sentence: string): string[] {
  if (sentence.endsWith('?') || sentence.length > longestSentence) return [];
  return sentence
    .replace(/^(?:please |also,? )?(?:remember|note|keep in mind)(?: that|:)? /i, '')
    .split(/;\s+|,? (?:and|but) (?=(?:I|my|I['’]m|call me)\b)/i)
    .map((part) => part.replace(/[\s.!,;]+$/, '').trim());
}

const kindsBySaying: [RegExp, string][] = [
  [
    /^my (?:\w+ ){0,2}(?:wife|husband|partner|son|daughter|child|children|brother|sister|mother|father|friend|boss|colleague)\b/i,
    'relationship',
  ],
  [/^I(?: am|['’]m) married\b/i, 'relationship'],
  [/^my (?:favou?rite|preferred)\b/i, 'preference'],
  [/^(?:call me|my (?:full |first |last )?name is|I(?: am|['’]m) called) \S/i, 'identity'],
  [/^my (?:\w+ ){1,3}(?:is|are) \S/i, 'identity'],
  [/^I(?: am|['’]m) (?:allergic|intolerant|a|an|from|based|born|\d+)\b/i, 'identity'],
  [/^I (?:live|work|was born|come from|have|own|speak)\b/i, 'identity'],
  [/^I (?:always |never |really |usually )?(?:like|love|prefer|enjoy|hate|dislike|avoid|eat|drink)\b/i, 'preference'],
  [/^I (?:don['’]t|do not|cannot|can['’]t) (?:like|eat|drink|want|use)\b/i, 'preference'],
];
/** Temporary states and wishes are not worth remembering. */
const passing = /\b(?:question|problem|issue|idea|minute|moment|look|trouble|now|today|today's|right now)\b/i;

function factOf(statement: string): Fact | undefined {
  const kind = kindsBySaying.find(([pattern]) => pattern.test(statement))?.[1];
  if (kind === undefined || passing.test(statement)) return undefined;
  return { text: `${aboutTheUser(statement)}.`, kind, said_by_user: true };
}

/** Turns the user's statement into a sentence about them. */
function aboutTheUser(statement: string): string {
  const told = statement
    .replace(/^call me\b/i, 'my name is')
    .replace(/^I['’]m\b/i, 'I am')
    .replace(/\bmy\b/gi, 'the user’s')
    .replace(/\bme\b/g, 'the user')
    .replace(
      /^I ((?:always|never|really|usually) )?(\p{L}+(?:['’]t)?)/u,
      (_all, often: string | undefined, verb: string) => {
        return `the user ${often ?? ''}${thirdPerson(verb)}`;
      },
    );
  return told.charAt(0).toUpperCase() + told.slice(1);
}

function thirdPerson(verb: string): string {
  const irregular: Record<string, string> = {
    am: 'is',
    have: 'has',
    do: 'does',
    was: 'was',
    cannot: 'cannot',
    'don’t': 'does not',
    "don't": 'does not',
    'can’t': 'cannot',
    "can't": 'cannot',
  };
  if (Object.hasOwn(irregular, verb)) return irregular[verb] as string;
  return /(?:s|sh|ch|x|z|o)$/.test(verb)
    ? `${verb}es`
    : /[^aeiou]y$/.test(verb)
      ? `${verb.slice(0, -1)}ies`
      : `${verb}s`;
}
