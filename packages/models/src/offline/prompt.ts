import { sentencesOf } from './sentences.ts';
import { withoutFence } from './situation.ts';

/** What the prompt of an agent tells about its world, in the sections that it is made of. */
export type Told = {
  /** What it is and does: sentences that begin with "You". */
  self: string[];
  /** What may be said to anybody: statements about the world, never what the agent is told to do or to leave. */
  facts: string[];
  /** What the caller's system says about the person. */
  person: string[];
  notebooks: string[];
  /** A tag, or null: as the person writes. */
  language: string | null;
};

export function toldIn(system: readonly string[]): Told {
  const prompt = system.join('\n\n');
  const instructions = sentencesOf(
    /^# Instructions of the company you work for\n\n([\s\S]*?)\n\n# Language$/m.exec(prompt)?.[1] ?? '',
  );
  return {
    self: instructions.filter((sentence) => /^You (?!must|should|may|will|can|never|always)\p{L}+/u.test(sentence)),
    facts: instructions.map(withoutLabel).filter(isFact),
    person: personIn(prompt),
    notebooks: itemsUnder('Notebooks', prompt),
    language: /^Write in the language `([^`]+)`/m.exec(prompt)?.[1] ?? null,
  };
}

/** A statement about the world: nothing that the agent is told to do, to leave or to keep to itself. */
export const isFact = (sentence: string) => !isOrder.test(sentence) && !isPrivate.test(sentence);

function personIn(prompt: string): string[] {
  const known = /^# The person$([\s\S]*?)(?=^# |(?![\s\S]))/m.exec(withoutFence(prompt))?.[1] ?? '';
  return [...known.matchAll(/^(Name|Email): (.+)$/gm)].map(
    (match) => `Your ${match[1]?.toLowerCase()} is ${match[2]}.`,
  );
}

const itemsUnder = (heading: string, prompt: string): string[] => {
  const section =
    new RegExp(`^# ${heading}$([\\s\\S]*?)(?=^# |(?![\\s\\S]))`, 'm').exec(withoutFence(prompt))?.[1] ?? '';
  return [...section.matchAll(/^- (.+)$/gm)].map((match) => match[1] as string);
};

/** A line of a form, such as "Facts: We open at nine." */
const withoutLabel = (sentence: string) => sentence.replace(/^(?:facts?|to know|good to know|wissen|datos): /i, '');

/** Whoever speaks to the agent says "you", begins with what is to be done, or with when to do it. */
const isOrder =
  /^(?:you|your|never|always|do|don't|be|when|whenever|if|unless|only|please|anyone|anybody|everyone|nobody|answer|ask|tell|say|look|quote|offer|repeat|keep|use|write|speak|help|give|check|make|send|start|read|refuse|avoid|remember|treat|greet|begin|end|stop|call|book|find|follow|try|explain|reply|respond|act|mention|include|act|take|show|let|hand|reject|decline|prefer|who comes|tone|language|du|sie|niemals|immer|wenn|falls|frage|sage|nenne|antworte|nunca|siempre|si|responde|pregunta)\b/iu;

/** What the instructions keep to themselves is said to nobody, however it is asked for. */
const isPrivate =
  /\b(?:never|secret|confidential|internal|password|private|reveal|hide|agent|assistant|niemals|geheim|intern|nunca|secreto)\b|\b(?:must|may|should) not\b|\bnot (?:be )?(?:told|said|shared|shown|mentioned)\b/iu;
