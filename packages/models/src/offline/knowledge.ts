import { coverage, sentencesOf, stemsOf } from './words.ts';

type Passage = { source: string | null; text: string };

/** The sentences of notebooks and memory that have most in common with the question, quoted; null where there are none. */
export function quoteFrom(outputs: readonly string[], question: string): string | null {
  const wanted = [...new Set(stemsOf(question))];
  const sentences = outputs
    .flatMap(passagesOf)
    .flatMap(({ source, text }) => sentencesOf(text).map((sentence) => ({ source, sentence })))
    .map((each, index) => ({ ...each, index, score: coverage(wanted, new Set(stemsOf(each.sentence))) }));
  const ranked = sentences.toSorted((left, right) => right.score - left.score || left.index - right.index);
  const [first] = ranked;
  if (!first) return null;
  const chosen = ranked.filter(({ score }) => score > 0 && score >= first.score * 0.6).slice(0, 3);
  return (chosen.length > 0 ? chosen : [first])
    .toSorted((left, right) => left.index - right.index)
    .map(({ source, sentence }) => `${source ? `From ${source}: ` : ''}“${sentence}”`)
    .join('\n');
}

const nothing = /^\s*(no|nothing|none|0)\b[^.\n]{0,60}\.?\s*$|^\s*$/i;
const textKeys = ['text', 'content', 'passage', 'excerpt', 'snippet', 'fact', 'value', 'memory'];
const sourceKeys = ['title', 'document', 'filename', 'source', 'notebook', 'name'];

function passagesOf(output: string): Passage[] {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    return nothing.test(output) ? [] : [{ source: null, text: output }];
  }
  return passagesIn(value);
}

function passagesIn(value: unknown): Passage[] {
  if (typeof value === 'string') return nothing.test(value) ? [] : [{ source: null, text: value }];
  if (Array.isArray(value)) return value.flatMap(passagesIn);
  if (typeof value !== 'object' || value === null) return [];
  const record = value as Record<string, unknown>;
  const text = textKeys.map((key) => record[key]).find((each): each is string => typeof each === 'string');
  if (text === undefined)
    return Object.values(record)
      .filter((each) => typeof each === 'object')
      .flatMap(passagesIn);
  const source = sourceKeys.map((key) => record[key]).find((each): each is string => typeof each === 'string');
  return nothing.test(text) ? [] : [{ source: source ?? null, text }];
}
