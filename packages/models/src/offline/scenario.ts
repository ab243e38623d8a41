import type { ModelRequest } from '@vestra/agent/model';
import { situationOf } from './situation.ts';
import { coverage, sentencesOf, stemsOf } from './words.ts';

/**
 * The next line of the user that a scenario describes: the prompt holds lines `Goal: …` and `Persona: …`. The agent's
 * replies come as user messages, what the played user said before as agent messages.
 */
export function playUser(request: ModelRequest): { says: string; is_done: boolean } {
  const line = nextLine(request);
  return { says: line ?? '', is_done: line === null };
}

const longestPlay = 8;

/** Null: there is nothing more to say. */
function nextLine(request: ModelRequest): string | null {
  const prompt = request.system.join('\n');
  const goal = lineOf(prompt, 'Goal') ?? 'I need help.';
  const said = request.messages.filter(({ role }) => role === 'agent').length;
  if (said === 0) return goal;
  const { asked: reply, hasSaid } = situationOf(request);
  if (!reply.includes('?') || said >= longestPlay) return null;
  const question = new Set(stemsOf(reply));
  const known = [goal, lineOf(prompt, 'Persona') ?? ''].flatMap(sentencesOf);
  const fresh = known.find((sentence) => coverage(stemsOf(sentence), question) > 0 && !hasSaid(sentence));
  if (fresh) return fresh;
  if (/\b(shall|should|would you like|do you want|is that|confirm|may i|can i|okay|ok)\b/i.test(reply))
    return 'Yes, please.';
  return hasSaid('I have told you all I know.') ? null : `I have told you all I know. ${goal}`;
}

const lineOf = (prompt: string, label: string) => new RegExp(`^${label}:[ \\t]*(.+)$`, 'im').exec(prompt)?.[1]?.trim();

/**
 * A verdict by words alone: strict, since a criterion that cannot be decided counts as not met. The last message holds a line
 * `Criterion: …` or `Must never: …` for each, and the conversation in lines that begin with `User:`, `Agent:` or `Tool:`
 * (a line without any of these goes on with the one before).
 */
export function judge(request: ModelRequest): object {
  const { asked } = situationOf(request);
  const agent = spoken(asked, ['Agent', 'Tool']);
  return {
    criteria: linesOf(asked, 'Criterion').map((text) => ({ text, ...criterion(text, agent) })),
    must_never: linesOf(asked, 'Must never').map((text) => ({ text, ...rule(text, spoken(asked, ['Agent'])) })),
  };
}

const linesOf = (text: string, label: string) =>
  [...text.matchAll(new RegExp(`^${label}:[ \\t]*(.+)$`, 'gim'))].map((match) => (match[1] as string).trim());

const speakers = /^(User|Agent|Tool|Criterion|Must never):[ \t]*(.*)$/i;

/** The lines of some speakers, each with those that go on with it. */
function spoken(text: string, wanted: readonly string[]): string[] {
  let speaker = '';
  return text.split('\n').flatMap((line) => {
    const match = speakers.exec(line);
    if (match) speaker = match[1] as string;
    return wanted.some((each) => each.toLowerCase() === speaker.toLowerCase())
      ? [match ? (match[2] as string) : line]
      : [];
  });
}

/** Words of criteria that speak of the conversation and not of what is said in it. */
const aboutSpeaking = new Set(
  stemsOf(
    'agent assistant user customer say says said mention mentions state states explain answer answers reply replies offer offers ask asks must should call calls tool give gives tells promise reveal',
  ),
);
const meaningOf = (text: string) => [...new Set(stemsOf(text))].filter((stem) => !aboutSpeaking.has(stem));

function criterion(text: string, lines: readonly string[]): { met: boolean; reason: string } {
  const wanted = meaningOf(text);
  if (wanted.length === 0) return { met: false, reason: 'The offline judge cannot decide this.' };
  const isDenied = /\b(not|never|without|n't)\b/i.test(text);
  const { share, missing, line } = found(wanted, lines);
  if (isDenied) return { met: share < 0.5, reason: share < 0.5 ? 'Nothing of it was said.' : `It was said: “${line}”` };
  return {
    met: share >= 0.5,
    reason: share >= 0.5 ? `It was said: “${line}”` : `Nothing was said of: ${missing.join(', ')}.`,
  };
}

function rule(text: string, lines: readonly string[]): { broken: boolean; reason: string } {
  const wanted = meaningOf(text);
  const { share, line } = found(wanted, lines);
  const broken = wanted.length > 0 && share >= 0.6;
  return { broken, reason: broken ? `It was said: “${line}”` : 'Nothing of it was said.' };
}

function found(wanted: readonly string[], lines: readonly string[]) {
  const all = new Set(lines.flatMap(stemsOf));
  const [line = ''] = lines.toSorted(
    (left, right) => coverage(wanted, new Set(stemsOf(right))) - coverage(wanted, new Set(stemsOf(left))),
  );
  return { share: coverage(wanted, all), missing: wanted.filter((word) => !all.has(word)), line: line.slice(0, 200) };
}
