import { createContext, useContext } from 'react';
import { en, type Words } from './en.ts';

/** Each language is a separate chunk. */
export const catalogues = {
  en: async () => en,
  de: async () => (await import('./de.ts')).de,
  es: async () => (await import('./es.ts')).es,
  fr: async () => (await import('./fr.ts')).fr,
  pt: async () => (await import('./pt.ts')).pt,
  hi: async () => (await import('./hi.ts')).hi,
  ja: async () => (await import('./ja.ts')).ja,
  ar: async () => (await import('./ar.ts')).ar,
} as const satisfies Record<string, () => Promise<Words>>;

type Tag = keyof typeof catalogues;

const rightToLeft: ReadonlySet<Tag> = new Set(['ar']);

/** `locale` formats numbers and dates, such as `en-GB` for the language `en`. */
export type Language = { tag: Tag; locale: string; direction: 'ltr' | 'rtl'; words: Words };

/** Loads the first supported language. */
export async function loadLanguage(wanted: readonly string[]): Promise<Language> {
  const { tag, locale } = chooseTag(wanted);
  // Falls back to English if the texts cannot be loaded.
  const words = await catalogues[tag]().catch(() => null);
  if (words === null) return { tag: 'en', locale: 'en', direction: 'ltr', words: en };
  return { tag, locale, direction: rightToLeft.has(tag) ? 'rtl' : 'ltr', words };
}

export function chooseTag(wanted: readonly string[]): { tag: Tag; locale: string } {
  for (const each of wanted) {
    const tag = (each.toLowerCase().split(/[-_]/, 1)[0] ?? '') as Tag;
    if (Object.hasOwn(catalogues, tag)) return { tag, locale: isLocale(each) ? each : tag };
  }
  return { tag: 'en', locale: 'en' };
}

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

export const LanguageContext = createContext<Language>({ tag: 'en', locale: 'en', direction: 'ltr', words: en });

export const useLanguage = (): Language => useContext(LanguageContext);

export const useWords = (): Words => useContext(LanguageContext).words;
