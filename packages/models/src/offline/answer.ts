import type { ModelRequest } from '@vestra/agent/model';
import { ownPart } from './choose-tool.ts';
import { inQuotes, quoteFrom, type Source, saysNothing, sourceOfLines, sourcesOf } from './knowledge.ts';
import { type Phrases, phrasesFor, standInWords } from './phrases.ts';
import { toldIn } from './prompt.ts';
import { sentencesOf } from './sentences.ts';
import type { Deed, Situation } from './situation.ts';
import { stemsOf } from './words.ts';

/** Tools that only look something up for an answer. */
export const knowledgeTools = ['search_notebooks', 'recall'];

/** The text after everything that the message asks for is done. */
export function answerOf(request: ModelRequest, situation: Situation): string {
  const { question, done } = situation;
  const phrases = phrasesOf(request, situation);
  if (done.length === 0) {
    const own = ofOwnKnowledge(request, situation) ?? ofItself(request, question, phrases);
    if (own !== null) return own;
  }
  const passedOn = done.find(({ call: { name }, result }) => name in afterPassing && !result.isError);
  if (passedOn) return phrases[afterPassing[passedOn.call.name] as keyof Phrases];
  const looked = done.filter(({ call: { name } }) => isLookUp(name));
  const told = done.filter(({ call: { name } }) => !ownPart.has(name)).map(toldOf);
  if (looked.length > 0 || done.length === 0) {
    const known = memoryOf(request, situation, looked);
    const sources = [sourceOfLines(phrases.remembered, known), ...sourcesFor(request, situation, looked, phrases)];
    const ofThem =
      isWhoAmI.test(question) && known.length > 0 ? phrases.remembered + inQuotes(known.slice(0, 5)) : null;
    const nothing = isStatement(question) ? phrases.noted : nothingToSay(request, phrases);
    told.push(ofThem ?? quoteFrom(sources, question) ?? nothing);
  }
  const failed = done.filter(({ call: { name }, result }) => result.isError && ownPart.has(name) && !isLookUp(name));
  return [...told, ...failed.map(toldOf)].join('\n') || phrases.done;
}

/** Tools that pass the message on, and the text that follows. */
const afterPassing: Record<string, keyof Phrases> = {
  hand_off_to_work: 'started',
  pass_on_answer: 'passedOn',
  stop_work: 'stopped',
};

/** Answers from the conversation itself, without a lookup; null if that is impossible. */
export function ofOwnKnowledge(request: ModelRequest, situation: Situation): string | null {
  const phrases = phrasesOf(request, situation);
  return (
    aboutFiles(situation, phrases) ??
    earlierValue(situation) ??
    aboutWork(situation, phrases) ??
    aboutNothing(situation, phrases)
  );
}

/** "What is in this file?": quotes its beginning. */
function aboutFiles({ question, enclosed, enclosedBefore }: Situation, { enclosed: from }: Phrases): string | null {
  const [newest] = [...enclosed, ...enclosedBefore];
  if (newest === undefined || (question !== '' && !isAboutFile(question))) return null;
  const sentences = sentencesOf(newest).slice(0, 3);
  return sentences.length === 0 ? null : from + inQuotes(sentences);
}

const isAboutFile = (question: string) => {
  const wanted = stemsOf(question);
  return wanted.length > 0 && wanted.every((word) => wordsOfFiles.has(word));
};
const wordsOfFiles = new Set(
  [
    'file document attachment attached pdf csv say says read open summary summarise summarize contain content',
    'die Datei das Dokument steht lies Zusammenfassung Inhalt',
    'el archivo el documento dice',
  ].flatMap(stemsOf),
);

/** "Is the report ready?": reports the known tasks, newest first. */
function aboutWork({ question, openWork, endedWork }: Situation, { work }: Phrases): string | null {
  if (!isQuestion(question) || !isAboutWork.test(question)) return null;
  const known = [...openWork, ...endedWork.slice(0, 1)];
  return known.length === 0 ? null : work + inQuotes(known.map((each) => each.replace(/\s+/g, ' ')));
}

const isAboutWork =
  /\b(?:work|task|report|job|brief|ready|done|finished|status|progress|happened|working|failed|fertig|erledigt|arbeit|bericht|aufgabe|passiert|stand|listo|lista|terminado|trabajo|informe|tarea)\b/iu;
export const isQuestion = (text: string) =>
  /[?？]\s*$/.test(text) ||
  /^\s*(?:is|are|was|were|did|does|when|where|who|what|why|how|which|wann|wo|wer|was|warum|wie|welche[rsmn]?|ist|sind|hat)\b/iu.test(
    text,
  );

/** "What was in it?" has no keyword, so the last result is repeated. */
function aboutNothing({ question, doneBefore, saidBefore }: Situation, { unclear }: Phrases): string | null {
  if (stemsOf(question).length > 0 || isGreeting(question) || saidBefore.length === 0) return null;
  const last = doneBefore.find(({ call }) => !ownPart.has(call.name));
  return last ? toldOf(last) : unclear;
}

/** The user states something about themselves and asks for nothing. */
const isStatement = (text: string) =>
  !/[?？]/.test(text) &&
  /^\s*(?:(?:hi|hello|hey|hallo|guten tag|hola)\b[,.! ]*)?(?:I am|I['’]m|I (?:have|wear|live|like|love|prefer|work|use)|my \p{L}+|we (?:are|have)|ich (?:bin|heiße|habe|wohne|trage|mag)|meine? \p{L}+|soy|me llamo|tengo|vivo|mi \p{L}+)\b/iu.test(
    text,
  );

const phrasesOf = ({ system }: ModelRequest, { question }: Situation): Phrases =>
  phrasesFor(toldIn(system).language, question);

/** Added once per conversation. */
export function withNotice(answer: string, request: ModelRequest, situation: Situation): string {
  if (situation.hasSaid(standInWords) || answer.includes(standInWords)) return answer;
  return `${phrasesOf(request, situation).notice}\n\n${answer}`;
}

const isLookUp = (tool: string) => knowledgeTools.includes(tool) || tool === 'read_document';

/** Whether no lookup is needed, because the message is about the agent or is no question. */
export const isAboutItself = (question: string) =>
  stemsOf(question).length === 0 ||
  isSmallTalk.test(question) ||
  isWhoAreYou.test(question) ||
  isWhatCanYouDo.test(question);

const isThanks = /^\s*(?:thanks|thank you|many thanks|danke|vielen dank|gracias)\b/i;
/** A greeting, or a question about the agent or the user. */
const isGreeting = (question: string) =>
  isSmallTalk.test(question) || isWhoAreYou.test(question) || isWhatCanYouDo.test(question) || isWhoAmI.test(question);
const isSmallTalk =
  /^\s*(?:hi|hello|hey|thanks|thank you|bye|good (?:morning|evening|day|night|afternoon)|hallo|guten (?:tag|morgen|abend)|danke|vielen dank|hola|buenos días|gracias)\b.{0,20}$/iu;
const isWhoAreYou =
  /\b(?:who are you|what are you|who am i (?:talking|speaking) to|wer (?:bist du|sind sie)|quién (?:eres|es usted))\b/iu;
const isWhatCanYouDo =
  /\b(?:what (?:can|do) you (?:do|know|offer)(?! about)|how can you help|what are you (?:for|able)|was (?:kannst du|können sie)|qué puedes? hacer)\b/iu;
const isWhoAmI = /\b(?:who am i|what do you (?:know|remember) about me|wer bin ich|was weißt du über mich)\b/iu;

function ofItself(request: ModelRequest, question: string, phrases: Phrases): string | null {
  if (isSmallTalk.test(question) && isThanks.test(question)) return phrases.welcome;
  const { self, notebooks } = toldIn(request.system);
  const identity = self.slice(0, 2).map((sentence) => sentence.replace(/^You are\b/, 'I am').replace(/^You\b/, 'I'));
  if (isWhatCanYouDo.test(question)) {
    const tools = request.tools.filter(({ name }) => !ownPart.has(name) && !isOfTheHouse.test(name));
    return (
      [
        ...identity.slice(0, 1),
        ...listed(
          phrases.tools,
          tools.map(({ name, description }) => `${name}: ${sentencesOf(description)[0] ?? name}`),
        ),
        ...listed(phrases.notebooks, notebooks),
      ].join('\n') || phrases.hello
    );
  }
  if (isWhoAreYou.test(question)) return identity.join(' ') || phrases.noIdentity;
  return isWhoAmI.test(question) || !isAboutItself(question) ? null : phrases.hello;
}

/** Tools that every agent has are not listed as features. */
const isOfTheHouse = /^(?:remember|run_command|read_file|write_file|list_files|save_output|browser_\w+|routines_\w+)$/;

const listed = (heading: string, items: readonly string[]) =>
  items.length === 0 ? [] : [heading, ...items.map((item) => `- ${item}`)];

function sourcesFor(request: ModelRequest, situation: Situation, looked: readonly Deed[], phrases: Phrases): Source[] {
  const { facts } = toldIn(request.system);
  const quoted = (output: string) => sourcesOf(output, phrases.from);
  const found = looked.filter(({ result }) => !result.isError);
  const before = situation.doneBefore.filter(({ result }) => !result.isError);
  return [
    sourceOfLines(null, facts),
    ...[...situation.enclosed, ...situation.enclosedBefore]
      .flatMap(quoted)
      .map((source) => ({ ...source, from: source.from || phrases.enclosed })),
    sourceOfLines(phrases.said, situation.saidBefore.flatMap(sentencesOf).filter(isStatement)),
    sourceOfLines(
      phrases.work,
      situation.endedWork.map((each) => each.replace(/\s+/g, ' ')),
    ),
    ...found.filter(({ call }) => call.name !== 'recall').flatMap(({ result }) => quoted(result.output)),
    ...before.flatMap(({ call, result }) =>
      isLookUp(call.name) ? quoted(result.output) : [sourceOfLines(`\`${call.name}\`: `, linesOf(result.output))],
    ),
  ];
}

/** Facts about the user: from the caller's system, from memory, and from `recall`. */
function memoryOf({ system }: ModelRequest, { memory }: Situation, looked: readonly Deed[]): string[] {
  const recalled = looked.filter(({ call, result }) => call.name === 'recall' && !result.isError);
  const lines = [...toldIn(system).person, ...memory, ...recalled.flatMap(({ result }) => factsIn(result.output))];
  return [...new Set(lines)].filter((line) => !saysNothing(line));
}

/** Memory facts are one per line, or JSON from a memory server. */
const factsIn = (output: string) =>
  /^\s*[[{]/.test(output)
    ? sourcesOf(output).flatMap(({ sections }) => sections.flatMap(({ sentences }) => sentences))
    : output.split('\n');

const nothingToSay = ({ tools }: ModelRequest, { nothingFound, noSource }: Phrases) =>
  tools.some(({ name }) => knowledgeTools.includes(name)) ? nothingFound : noSource;

/** "Tracking number?" after an order lookup: the value is in the earlier result. */
function earlierValue({ question, doneBefore }: Situation): string | null {
  const wanted = [...new Set(stemsOf(question))];
  if (wanted.length === 0) return null;
  for (const { call, result } of doneBefore) {
    if (result.isError || isLookUp(call.name)) continue;
    const pairs = pairsOf(parsed(result.output));
    // A word of the question that the result does not contain, such as another order number, needs a new lookup.
    const known = new Set(stemsOf([call.name.replaceAll('_', ' '), result.output].join(' ').replaceAll('_', ' ')));
    if (!wanted.every((word) => known.has(word))) continue;
    const fitting = pairs.filter(({ key }) => {
      const stems = stemsOf(key);
      return stems.length > 0 && stems.every((each) => wanted.includes(each));
    });
    const most = Math.max(...fitting.map(({ key }) => stemsOf(key).length));
    const nearest = fitting.filter(({ key }) => stemsOf(key).length === most);
    if (nearest.length > 0) return nearest.map(({ key, value }) => `${key}: ${value}`).join(', ');
  }
  return null;
}

/** A tool result as text: one line of values if it is short, otherwise a line for each. */
function linesOf(output: string): string[] {
  const values = pairsOf(parsed(output)).map(({ key, value }) => (key === '' ? value : `${key}: ${value}`));
  if (values.length === 0) return sentencesOf(output);
  const line = values.join(', ');
  return line.length <= longestLine ? [line] : values;
}
const longestLine = 400;

function toldOf({ result: { name, output, isError } }: Deed): string {
  if (isError) return `\`${name}\` did not work: ${output}`;
  if (output.trim() === '') return `\`${name}\` is done.`;
  const pairs = pairsOf(parsed(output));
  const told = pairs.map(({ key, value }) => (key === '' ? value : `${key}: ${value}`)).join(', ');
  return `\`${name}\` answered: ${told || output}`;
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

/** The values of JSON with readable names. Lists are numbered. */
function pairsOf(value: unknown, key = ''): { key: string; value: string }[] {
  if (value === undefined || value === null || value === '') return [];
  if (typeof value !== 'object') return [{ key, value: String(value) }];
  if (Array.isArray(value)) {
    if (value.every((each) => typeof each !== 'object'))
      return value.length === 0 ? [] : [{ key, value: value.join(', ') }];
    return value.flatMap((each, at) => pairsOf(each, [key, String(at + 1)].filter(Boolean).join(' ')));
  }
  return Object.entries(value).flatMap(([name, inner]) =>
    pairsOf(inner, [key, name.replaceAll(/[_-]/g, ' ')].filter(Boolean).join(' ')),
  );
}
