const words = (list: string) => new Set(list.split(/\s+/));

/** Words without their own meaning, and words that only ask for something. */
const fillers = words(
  `a an and are as at be been but by can could did do does for from get give had has have he her him his how i if in into is
  it its just let make me my need no not of on or our out please she should show so some tell than that the their them then
  there these they this to up us want was we were what when where which who why will with would you your hi hello hey thanks
  thank also any all about am may something anything someone anyone long many much often`,
);

/** The same for German and Spanish. They count if a text contains one that is not an English word. */
const otherFillers = {
  de: words(
    `aber alle als am an auch auf aus bei beim bin bis bitte da das dem den der des die dies diese dieser doch du ein eine einem
    einen einer er es für gern gerne habe haben hat hätte ich ihr ihre ihren im in ist kann kein keine können man mein meine
    meinen mich mir mit möchte nach nicht noch oder schon sehr seit sich sie sind so um und uns von vom wann war was welche
    welchem welchen welcher welches wenn wer werden wie wieder wir wird wo zu zum zur`,
  ),
  es: words(
    `a al como con cuál cuales cuáles cuando cuándo cuánto cuántos de del dónde el ella en es esta este esto hay la las lo los me
    mi mis muy no o para pero por porque puede puedo que qué quién se ser sí sin sobre son soy su sus te tengo tiene tu un una
    unos y ya yo`,
  ),
};

const alsoEnglish = words(
  'a al all am an as bin como con de den die do du el en er es hat has in la man me mi no o on se son so su te tu um un war was y',
);

/** The language that a text seems to be written in, of the known ones. */
export function languageOf(text: string): 'de' | 'en' | 'es' {
  const own = (language: 'de' | 'es') =>
    wordsIn(text).filter((word) => otherFillers[language].has(word) && !alsoEnglish.has(word)).length;
  const [german, spanish] = [own('de'), own('es')];
  if (german === 0 && spanish === 0) return 'en';
  return german >= spanish ? 'de' : 'es';
}

const wordsIn = (text: string) =>
  (text.replace(/([a-z])([A-Z])/g, '$1 $2').match(/\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.toLowerCase(),
  );

/** The meaningful words without their endings, so that `orders`, `ordered` and `order` are equal. */
export function stemsOf(text: string): string[] {
  const language = languageOf(text);
  return wordsIn(text)
    .filter((word) => !fillers.has(word) && (language === 'en' || !otherFillers[language].has(word)))
    .filter((word) => word.length > 1 || /[^a-z]/.test(word))
    .map(stem);
}

function stem(word: string): string {
  if (word.length <= 3 || /\d/.test(word)) return word;
  return [
    [/(ations?|ating|ated|ates?)$/, 'at'],
    [/ies$/, 'y'],
    [/(?<=ss|sh|ch|x)es$/, ''],
    [/(?<=[^su])s$/, ''],
    [/(ing|ed|ly|ment)$/, ''],
    [/(en|er|em|e)$/, ''],
    [/([b-df-hj-np-tv-z])\1$/, '$1'],
  ].reduce((left, [ending, instead]) => {
    const cut = left.replace(ending as RegExp, instead as string);
    return cut.length < 3 ? left : cut;
  }, word);
}

/** The share of `wanted` found in `text`: 0 to 1. */
export function coverage(wanted: readonly string[], text: ReadonlySet<string>): number {
  if (wanted.length === 0) return 0;
  return wanted.filter((word) => text.has(word)).length / wanted.length;
}

/** The JSON object inside a text; undefined if there is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as unknown;
  } catch {
    return undefined;
  }
}
