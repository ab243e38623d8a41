import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callWords } from '../voice/call-words.ts';
import { en, type Words } from './en.ts';
import { catalogues, chooseTag } from './words.ts';

const argument = 'ARGUMENT';
const saidBy = (words: Words) =>
  Object.entries(words).map(
    ([name, word]) => [name, typeof word === 'string' ? word : word(argument, argument)] as const,
  );
const english = Object.fromEntries(saidBy(en));

/** In these scripts, a text without their letters was not translated. */
const letters: Record<string, RegExp> = {
  hi: /\p{Script=Devanagari}/u,
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  ar: /\p{Script=Arabic}/u,
};

describe('translations of the session page', () => {
  it('exist for eight languages and are loaded by tag [PAGE-240]', () => {
    const written = globSync('??.ts', { cwd: import.meta.dirname }).map((file) => basename(file, '.ts'));
    expect(Object.keys(catalogues).sort()).toEqual(written.sort());
    expect(written).toEqual(['ar', 'de', 'en', 'es', 'fr', 'hi', 'ja', 'pt']);
  });

  for (const [tag, load] of Object.entries(catalogues)) {
    it(`translate every text into ${tag} [PAGE-240]`, async () => {
      const said = saidBy(await load());
      expect(said.map(([name]) => name).sort()).toEqual(Object.keys(english).sort());
      const wrong = said.filter(([name, text]) => {
        if (text.trim() === '' || english[name]?.includes(argument) !== text.includes(argument)) return true;
        if (letters[tag]) return !letters[tag].test(text);
        // Single words such as "Chat" are the same in several languages.
        return tag !== 'en' && text === english[name] && text.includes(' ');
      });
      expect(wrong).toEqual([]);
    });
  }

  /** Words that a translator of earlier English left, another form of address, or another country's variant. */
  const foreign: Record<string, RegExp> = {
    de: /wacht auf|fließt|auf einmal|Zeit ist um|\b(?:du|dir|dein)\b/,
    es: /despertando|a la vez|acabado su tiempo|\busted\b|\b(?:Permita|inténtelo)\b|se le oye/,
    fr: /réveille|à la fois|temps est écoulé|\b(?:tu|toi|ton)\b/i,
    pt: /acordando|de uma vez|\bA (?:ligar|ouvir|pensar|falar)\b|definições|noutra|\bde momento\b/,
    hi: /जाग|एक साथ|एक बार काम/,
    ja: /一度しか|時間が終了/,
    ar: /يستيقظ|دفعة واحدة/,
  };
  it.each(Object.entries(foreign))('are idiomatic in %s, in the page and in calls [PAGE-760]', async (tag, words) => {
    const page = saidBy(await (catalogues[tag as keyof typeof catalogues] ?? expect.fail())());
    const { states = {}, ends = {}, ...others } = callWords[tag] ?? {};
    const call = Object.entries({ ...others, ...states, ...ends });
    expect(call.length).toBeGreaterThan(15);
    expect([...page, ...call].filter(([, text]) => words.test(text))).toEqual([]);
  });

  it('contain every text: components have no literal text [PAGE-240]', () => {
    const page = join(import.meta.dirname, '..');
    const found = globSync('**/*.tsx', { cwd: page }).flatMap((file) => {
      const source = readFileSync(join(page, file), 'utf8').replace(/\{\/\*.*?\*\/\}/gs, '');
      const texts = source.match(/(?<![=\s])>\s*\p{L}[^<>{}=;]*<\//gu) ?? [];
      const attributes = source.match(/\b(?:aria-label|title|placeholder|alt)="[^"]*\p{L}[^"]*"/gu) ?? [];
      return [...texts, ...attributes].map((text) => `${file}: ${text}`);
    });
    expect(found).toEqual([]);
  });
});

describe('language selection', () => {
  it.each([
    [['pt-BR', 'en'], { tag: 'pt', locale: 'pt-BR' }],
    [['xx', 'JA'], { tag: 'ja', locale: 'JA' }],
    [['de_AT'], { tag: 'de', locale: 'de' }],
    [['toString', 'constructor'], { tag: 'en', locale: 'en' }],
    [[], { tag: 'en', locale: 'en' }],
  ])('chooses the first supported language of %j', (wanted, chosen) => {
    expect(chooseTag(wanted)).toEqual(chosen);
  });
});
