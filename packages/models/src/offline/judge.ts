import type { ModelRequest } from '@vestra/agent/model';
import { sentencesOf } from './sentences.ts';
import { situationOf } from './situation.ts';

/** Null: words alone do not decide it. */
type Verdict = { holds: boolean | null; reason: string };

/**
 * Judges only by words: whether the agent said some words or called a tool. Everything else stays undecided. The last
 * message contains a line `Criterion: …` or `Must never: …` for each, and the conversation in lines that begin with
 * `User:`, `Agent:` or `Tool:`. A line without a prefix continues the previous one.
 */
export function judge(request: ModelRequest): object {
  const { asked } = situationOf(request);
  const conversation = conversationIn(asked);
  const verdicts = (label: string) =>
    linesOf(asked, label).map((text) => ({ text, ...verdictOn(claimOf(text), conversation) }));
  return {
    criteria: verdicts('Criterion').map(({ text, holds, reason }) => ({ text, met: holds, reason })),
    must_never: verdicts('Must never').map(({ text, holds, reason }) => ({ text, broken: holds, reason })),
  };
}

const linesOf = (text: string, label: string) =>
  [...text.matchAll(new RegExp(`^${label}:[ \\t]*(.+)$`, 'gm'))].map((match) => (match[1] as string).trim());

type Conversation = { said: string[]; called: string[] };

const speakers = /^(User|Agent|Tool|Criterion|Must never):(.*)$/;

/** The agent's own words and tool calls, without the user's words and without tool input and output. */
function conversationIn(text: string): Conversation {
  const parts: { speaker: string; text: string }[] = [];
  for (const line of text.split('\n')) {
    const [, speaker, words = ''] = speakers.exec(line) ?? [];
    const last = parts.at(-1);
    if (speaker) parts.push({ speaker, text: words.trimStart() });
    else if (last) last.text += `\n${line.replace(/^ {2}/, '')}`;
  }
  const of = (wanted: string) => parts.filter(({ speaker }) => speaker === wanted).map((part) => part.text);
  return {
    said: [...of('Agent'), ...of('Tool').flatMap(questionsIn)],
    called: of('Tool').flatMap((call) => /^[\w.-]+/.exec(call)?.[0] ?? []),
  };
}

/** A question to the user counts as said, although a tool asks it. */
function questionsIn(call: string): string[] {
  const given = /^ask_question\((.*)\) (?:answered|failed): /s.exec(call)?.[1];
  return [...(given ?? '').matchAll(/"question":("(?:[^"\\]|\\.)*")/g)].map((match) => JSON.parse(match[1] as string));
}

const matched = 'Word match by the offline stand-in';

function verdictOn(claim: Claim, conversation: Conversation): Verdict {
  if (claim.kind === 'unclear') return undecided;
  if (claim.kind === 'calls') {
    const isCalled = conversation.called.some((name) => nameOf(name) === nameOf(claim.tool));
    const reason = `${matched}: \`${claim.tool}\` was ${isCalled ? '' : 'never '}called.`;
    return { holds: isCalled !== claim.isDenied, reason };
  }
  if (claim.kind === 'states') {
    const sentence = conversation.said.flatMap(sentencesOf).find((each) => states(each, claim.clause));
    return sentence === undefined
      ? undecided
      : { holds: true, reason: `${matched}: the agent said “${shown(sentence)}”` };
  }
  const found = claim.phrases.filter((phrase) => conversation.said.some((text) => saysWords(text, phrase)));
  const isSaid = claim.isAny ? found.length > 0 : found.length === claim.phrases.length;
  const told = isSaid ? found : claim.phrases.filter((phrase) => !found.includes(phrase));
  const list = told.map((phrase) => `“${phrase}”`).join(', ');
  return {
    holds: isSaid !== claim.isDenied,
    reason: `${matched}: the agent ${isSaid ? 'said' : 'never said'} ${list}.`,
  };
}

const undecided: Verdict = {
  holds: null,
  reason:
    'Not decided: the offline stand-in matches words and understands none. It can judge `The agent says "…".` and ' +
    '`The agent calls some_tool.`; set the key of a model provider to have everything judged.',
};

/** A server's tool is `slug.tool` in a test and has a prefix in a conversation. */
const nameOf = (tool: string) =>
  tool
    .replace(/^mcp__/, '')
    .replaceAll('__', '.')
    .toLowerCase();

const shown = (sentence: string) => (sentence.length <= 200 ? sentence : `${sentence.slice(0, 199).toWellFormed()}…`);

const plain = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Matches whole words: 19 does not contain 9. */
function saysWords(text: string, phrase: string): boolean {
  const wanted = plain(phrase).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${wanted}(?![\\p{L}\\p{N}])`, 'u').test(plain(text));
}

/**
 * Whether a sentence is the clause, or contains it between commas. Inside a longer sentence it may be doubted, asked or
 * denied.
 */
function states(sentence: string, clause: string): boolean {
  if (/\?|\b(if|unless|whether|falls|wenn|ob|si)\b/iu.test(sentence)) return false;
  const parts = sentence.split(/[,;:–—]|\s-\s/).map(bare);
  const wanted = clause.split(/[,;:–—]|\s-\s/).map(bare);
  return parts.some((_part, at) => wanted.every((each, offset) => parts[at + offset] === each));
}

/** Possessives do not matter: the parcel is your parcel. */
const bare = (text: string) =>
  (plain(text).match(/['.-]{0,3}[\p{L}\p{N}]+(?:['.-]+[\p{L}\p{N}]+)*/gu) ?? [])
    .filter(
      (word, at) => !/^(?:the|a|an|your|our|my|this|that)$/.test(word) && !(at === 0 && /^(?:and|but|so)$/.test(word)),
    )
    .join(' ');

/** The meaning of a test criterion, as far as it can be parsed without understanding it. */
type Claim =
  /** The agent says the quoted words: all of them, or any. */
  | { kind: 'says'; phrases: string[]; isAny: boolean; isDenied: boolean }
  | { kind: 'calls'; tool: string; isDenied: boolean }
  /** The agent states something in the words of the criterion. */
  | { kind: 'states'; clause: string }
  | { kind: 'unclear' };

const subject = `(?:(?:the|its|der|die|el|la) )?(?:(?:agent|assistant|answer|reply|it|er|antwort|agente|asistente|respuesta) )?`;
const denial = `(?:(?:must |should |may |does |do |did )?(not|never)|(?:doesn't|don't|must not|mustn't|didn't)|nie|nunca)`;
const saying = `(?:says?|mentions?|names?|contains?|includes?|holds?|quotes?|tells?|writes?|states?|gives?|repeats?|answers?|offers?|asks?|sagt|nennt|enthält|schreibt|dice|menciona)`;

const quoted = /"([^"]+)"|“([^”“]+)[”“]|„([^„“”]+)[“”]|«([^«»]+)»/g;

/**
 * Parses only three short forms: `The agent says "…".`, `The agent calls some_tool.` and `The agent says that ….`
 * Anything else in a criterion (a count, a condition, an order) may invert its meaning.
 */
function claimOf(line: string): Claim {
  const text = line.normalize('NFKC').replace(/[‘’]/g, "'").replace(/\s+/g, ' ').trim();
  return quotedClaim(text) ?? callClaim(text) ?? statedClaim(text) ?? { kind: 'unclear' };
}

function quotedClaim(text: string): Claim | undefined {
  const phrases = [...text.matchAll(quoted)].map((match) => match.slice(1).find(Boolean) as string);
  if (phrases.length === 0 || phrases.some((phrase) => !/[\p{L}\p{N}]/u.test(phrase))) return undefined;
  const frame = text.replaceAll(quoted, '"').replace(/[.!]$/, '');
  const read = new RegExp(
    String.raw`^${subject}(?<denial>${denial} )?${saying}(?<about>(?: [\p{L}-]+){0,6}):? "(?<more>(?:(?:,| and| or|, and|, or| und| oder| y| o) ")*)$`,
    'iu',
  ).exec(frame)?.groups;
  if (!read || turnsRound.test(read.about ?? '')) return undefined;
  const links = [...(read.more ?? '').matchAll(/\b(?:and|or|und|oder|y|o)\b/gi)].map(([link]) => /^o/i.test(link));
  if (new Set(links).size > 1) return undefined;
  // Several phrases separated only by commas do not show whether one is enough.
  if (phrases.length > 1 && links.length === 0) return undefined;
  return { kind: 'says', phrases, isAny: links[0] ?? false, isDenied: read.denial !== undefined };
}

/** Words between the verb and the quotes that may change the meaning. */
const turnsRound =
  /\b(?:not|never|no|nothing|without|instead|only|first|last|before|after|until|unless|if|when|whether|than|least|most|more|less|once|twice|times|nicht|kein|keine|ohne|nur|sin|solo|why|how|user|customer|cannot|refuses?|unable|avoids?|stops?|against|denies|deny|wrong|false)\b/i;

function callClaim(text: string): Claim | undefined {
  const read = new RegExp(
    String.raw`^${subject}(?<denial>${denial} )?(?:calls?|uses?|runs?|ruft|llama)(?: the)?(?: tool| function)? (?:${'`'}(?<marked>[\w.-]+)${'`'}|(?<named>\w+[._]\w[\w.]*\w))(?: auf)?[.!]?$`,
    'iu',
  ).exec(text)?.groups;
  const tool = read?.marked ?? read?.named;
  return tool === undefined ? undefined : { kind: 'calls', tool, isDenied: read?.denial !== undefined };
}

function statedClaim(text: string): Claim | undefined {
  const clause = new RegExp(
    `^${subject}(?:says?|tells?(?: (?:the )?(?:user|customer|them))?|states?|sagt|dice),? (?:that|dass|que) (?<clause>.+?)[.!]?$`,
    'iu',
  ).exec(text)?.groups?.clause;
  return clause === undefined ? undefined : { kind: 'states', clause };
}
