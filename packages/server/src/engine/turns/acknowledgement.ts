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
 * The line that the user sees if a message starts a task directly, or if the model hands it off without text. It is in
 * the user's language, or else in that of the agent, or else in the detected language of the message.
 */
export function acknowledgementIn(of: { locale: string | null; language: string; message: string }): string {
  const { locale, language, message } = of;
  return sentenceIn(locale ?? '') ?? sentenceIn(language) ?? sentenceIn(seemingLanguage(message)) ?? english;
}

/** Undefined for `auto` and for languages without a sentence. */
function sentenceIn(locale: string): string | undefined {
  const [tag = ''] = locale.toLowerCase().split(/[-_]/, 1);
  return Object.hasOwn(sentences, tag) ? sentences[tag] : undefined;
}

const scripts: [RegExp, string][] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'ja'],
  [/\p{Script=Devanagari}/u, 'hi'],
  [/\p{Script=Arabic}/u, 'ar'],
];

/** Frequent short words that identify a language. */
const smallWords: Readonly<Record<string, readonly string[]>> = {
  en: ['the', 'and', 'for', 'you', 'my', 'please', 'with', 'is', 'what', 'of', 'to'],
  de: [
    'der',
    'die',
    'das',
    'und',
    'ich',
    'bitte',
    'für',
    'mir',
    'nicht',
    'ist',
    'eine',
    'einen',
    'mit',
    'mein',
    'meine',
  ],
  es: ['el', 'los', 'las', 'por', 'favor', 'para', 'una', 'mi', 'con', 'y', 'quiero', 'del', 'necesito', 'está'],
  fr: ['le', 'les', 'des', 'je', 'pour', 'une', 'est', 'et', 'vous', 'moi', 'mon', 'ma', 'avec', 'du', 'plaît'],
  pt: [
    'o',
    'os',
    'um',
    'uma',
    'para',
    'por',
    'favor',
    'meu',
    'minha',
    'não',
    'com',
    'e',
    'eu',
    'você',
    'preciso',
    'do',
    'da',
  ],
};
const maxInspectedCharacters = 2000;
/** One word proves nothing: "Do it" has a small word of Portuguese. */
const minSmallWords = 2;

function seemingLanguage(message: string): string {
  const text = message.slice(0, maxInspectedCharacters);
  const script = scripts.find(([signs]) => signs.test(text));
  if (script) return script[1];
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = Object.entries(smallWords).map(([tag, small]) => ({
    tag,
    count: words.filter((word) => small.includes(word)).length,
  }));
  const [first, second] = counted.sort((one, other) => other.count - one.count);
  const isClear = first && second && first.count >= minSmallWords && first.count > second.count;
  return isClear ? first.tag : 'en';
}
