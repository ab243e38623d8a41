const english = 'I am on it and will come back with the result.';

const sentences: Readonly<Record<string, string>> = {
  en: english,
  de: 'Ich kümmere mich darum und melde mich mit dem Ergebnis.',
  es: 'Me pongo con ello y vuelvo con el resultado.',
  fr: 'Je m’en occupe et je reviens avec le résultat.',
  pt: 'Estou cuidando disso e volto com o resultado.',
  hi: 'मैं इस पर काम शुरू कर रहा हूँ और नतीजा लेकर लौटूँगा।',
  ja: '承りました。結果が出ましたらお知らせします。',
  ar: 'سأعمل على ذلك وأعود إليك بالنتيجة.',
};

/**
 * What is said where a message goes straight to work, or the model handed it over without a word: in the language of the
 * agent, as far as it is a fixed one that is known here.
 */
export function acknowledgementIn(language: string): string {
  const tag = language.toLowerCase().split('-', 1)[0] ?? '';
  return (Object.hasOwn(sentences, tag) ? sentences[tag] : undefined) ?? english;
}
