/** The meaning of a test criterion, as far as it can be parsed without understanding it. */
export type Claim =
  /** The agent says the quoted words: all of them, or any. */
  | { kind: 'says'; phrases: string[]; isAny: boolean; isDenied: boolean }
  | { kind: 'calls'; tool: string; isDenied: boolean }
  /** The agent states something in the words of the criterion. */
  | { kind: 'states'; clause: string }
  | { kind: 'unclear' };

const subject = `(?:(?:the|its|der|die|el|la) )?(?:(?:agent|assistant|answer|reply|it|er|antwort|agente|asistente|respuesta) )?`;
const denial = `(?:(?:must |should |may |does |do |did )?(not|never)|(?:doesn't|don't|must not|mustn't|didn't)|nie|nunca)`;
const saying = `(?:says?|mentions?|names?|contains?|includes?|holds?|quotes?|tells?|writes?|states?|gives?|repeats?|answers?|offers?|asks?|sagt|nennt|enthält|schreibt|dice|menciona)`;

const quoted = /"([^"]+)"|“([^”“]+)[”“]|„([^“”]+)[“”]|«([^»]+)»/g;

/**
 * Parses only three short forms: `The agent says "…".`, `The agent calls some_tool.` and `The agent says that ….`
 * Anything else in a criterion (a count, a condition, an order) may invert its meaning.
 */
export function claimOf(line: string): Claim {
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
