import type { Message } from './message.ts';

/**
 * Appends facts that people refer back to and a summary may lose: order numbers, amounts, dates, addresses. Each fact
 * that is missing from the summary is kept verbatim with the surrounding words.
 */
export function withKeptFacts(summary: string, told: readonly Message[], before: string | null): string {
  const sources = [...newestOf(told.toReversed().flatMap(textsOf)), ...(before === null ? [] : [before])];
  const known = new Set(factsIn(summary));
  const kept: string[] = [];
  let room = mostCharacters;
  for (const line of sources.flatMap((text) => text.slice(0, longestText).split(/\r?\n/))) {
    for (const { fact, around } of factsWithWords(line)) {
      if (known.has(fact)) continue;
      known.add(fact);
      if (around.length > room) return withLines(summary, kept);
      kept.push(around);
      room -= around.length;
    }
  }
  return withLines(summary, kept);
}

/** Limits the search, because it blocks the event loop. */
function newestOf(texts: readonly string[]): string[] {
  let room = mostLooked;
  return texts.filter((text) => {
    room -= Math.min(text.length, longestText);
    return room >= 0;
  });
}

const mostCharacters = 4_000;
const mostLooked = 200_000;
const longestText = 20_000;
const wordsAround = 60;

const withLines = (summary: string, kept: readonly string[]) =>
  kept.length === 0 ? summary : `${summary}\n\nKept word for word:\n${kept.map((line) => `- ${line}`).join('\n')}`;

/**
 * Matches email and web addresses, amounts, dates and words with a digit that are not small numbers. Every part has a
 * maximum length: a tool result of 100,000 digits would otherwise block the process for seconds.
 */
export const facts =
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|https?:\/\/[^\s"'<>)\]]{4,200}|[$€£¥₹]\s?\d[\d.,]{0,20}|\d[\d.,]{0,20}\s?(?:USD|EUR|GBP|CHF|INR|JPY|BRL|€|£|%)|\b\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\b|\b(?=[\w-]{0,39}\d)[A-Za-z0-9][\w-]{3,40}\b/gu;

const factsIn = (text: string) => [...text.matchAll(facts)].map(([fact]) => fact);

function factsWithWords(line: string): { fact: string; around: string }[] {
  return [...line.matchAll(facts)].map(({ 0: fact, index }) => ({
    fact,
    around: line
      .slice(Math.max(0, index - wordsAround), index + fact.length + wordsAround)
      .toWellFormed()
      .trim(),
  }));
}

function textsOf(message: Message): string[] {
  switch (message.role) {
    case 'user':
      return message.parts.flatMap((part) => (part.kind === 'text' && !part.isPassing ? [part.text] : []));
    case 'agent':
      return [message.text, ...message.calls.map(({ arguments: given }) => JSON.stringify(given) ?? '')];
    case 'tool':
      return message.results.map(({ output }) => output);
  }
}
