import { createContext, useContext } from 'react';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en, type Words } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

const tables: Readonly<Record<string, Words>> = { en, de, es, fr, ar };
const rightToLeft = new Set(['ar']);

export type Language = { tag: string; direction: 'ltr' | 'rtl'; words: Words };

/** The first of the browser's languages that the page speaks. */
export function chooseLanguage(wanted: readonly string[]): Language {
  const tags = wanted.map((each) => each.toLowerCase().split('-', 1)[0] ?? '');
  const tag = tags.find((each) => Object.hasOwn(tables, each)) ?? 'en';
  return { tag, direction: rightToLeft.has(tag) ? 'rtl' : 'ltr', words: tables[tag] ?? en };
}

export const WordsContext = createContext<Words>(en);

export const useWords = (): Words => useContext(WordsContext);
