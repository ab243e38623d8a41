import { sentencesOf } from './sentences.ts';
import { withoutFence } from './situation.ts';

/** The facts in an agent's prompt, by section. */
export type PromptFacts = {
  /** The agent's role: sentences that begin with "You". */
  self: string[];
  /** Public facts: statements about the world, never instructions to the agent. */
  facts: string[];
  /** Facts from the caller's system about the user. */
  person: string[];
  notebooks: string[];
  /** A language tag, or null to follow the user. */
  language: string | null;
};

export function toldIn(system: readonly string[]): PromptFacts {
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

/** A statement about the world: not an instruction, a prohibition or a secret. */
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

/** A labelled line, such as "Facts: We open at nine." */
const withoutLabel = (sentence: string) => sentence.replace(/^(?:facts?|to know|good to know|wissen|datos): /i, '');

/** An instruction says "you", or begins with an action or a condition. */
const isOrder =
  /^(?:you|your|never|always|do|don't|be|when|whenever|if|unless|only|please|anyone|anybody|everyone|nobody|answer|ask|tell|say|look|quote|offer|repeat|keep|use|write|speak|help|give|check|make|send|start|read|refuse|avoid|remember|treat|greet|begin|end|stop|call|book|find|follow|try|explain|reply|respond|act|mention|include|act|take|show|let|hand|reject|decline|prefer|who comes|tone|language|du|sie|niemals|immer|wenn|falls|frage|sage|nenne|antworte|nunca|siempre|si|responde|pregunta)\b/iu;

/** Private instructions are never revealed, whatever the question. */
const isPrivate =
  /\b(?:never|secret|confidential|internal|password|private|reveal|hide|agent|assistant|niemals|geheim|intern|nunca|secreto)\b|\b(?:must|may|should) not\b|\bnot (?:be )?(?:told|said|shared|shown|mentioned)\b/iu;
