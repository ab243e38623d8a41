const maxQueryCharacters = 1000;
const maxWords = 32;

/** A query in the syntax of PostgreSQL's web search. */
export type SearchQuery = {
  /** The whole query: every word, quoted phrases in order, and `-word` for exclusions. */
  whole: string;
  /** Single words, for passages that have only some of them. */
  words: string[];
  /** The exclusions `-word` and `-"a phrase"`, with their signs. */
  excluded: string;
};

export function readSearchQuery(query: string): SearchQuery {
  const whole = indexedText(query.slice(0, maxQueryCharacters)).trim();
  const parts = whole.match(/-?"[^"]*"?|\S+/g) ?? [];
  const isExcluded = (part: string) => /^-["\p{L}\p{N}]/u.test(part);
  const words = parts
    .filter((part) => !isExcluded(part))
    .flatMap((part) => part.split(/["\s-]+/))
    .filter((word) => /[\p{L}\p{N}]/u.test(word) && word !== 'or');
  return {
    whole,
    words: [...new Set(words)].slice(0, maxWords),
    excluded: parts.filter(isExcluded).join(' '),
  };
}

/**
 * Normalizes a text for indexing and searching. PostgreSQL's parser is made for European prose in the database's locale:
 *
 * - It keeps `and/or`, `price_list` and `a\b` as one path, so these characters become spaces.
 * - Under a C locale it takes every non-ASCII character for a letter and lowers none of them, so both happen here.
 * - It takes a sentence in Chinese, Japanese, Korean or Thai for one word, so these are indexed as pairs of characters.
 */
export function indexedText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[/\\_]|[^\p{L}\p{M}\p{N}\p{ASCII}]/gu, ' ')
    .replace(unspacedRun, (run) => ` ${pairsOf(run).join(' ')} `);
}

const unspacedRun =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** Without this, the parser takes `refund-policy.md` for a host name. */
export const indexedTitle = (title: string): string => indexedText(title.replace(/[.-]/g, ' '));

/** A longer sample does not change the result. */
const sampleLength = 20_000;
/** The least share of known words. Prose has 20 to 45 percent, text in another language a few percent by chance. */
const minShare = 0.06;

/**
 * Returns the text search configuration for a text, or `simple`, by the common short words of each language. PostgreSQL
 * 15 and later have all these configurations.
 */
export function detectLanguage(text: string): string {
  const words =
    proseOf(text.slice(0, sampleLength))
      .toLowerCase()
      .match(/[\p{L}\p{M}’']+/gu) ?? [];
  const scores = new Map<string, number>();
  for (const word of words) {
    for (const language of languagesByWord.get(word) ?? []) scores.set(language, (scores.get(language) ?? 0) + 1);
  }
  const most = Math.max(0, ...scores.values());
  if (most === 0 || most < words.length * minShare) return 'simple';
  const best = [...scores].filter(([language, score]) => score === most && language in stemmed);
  return best.length === 1 ? (best[0] as [string, number])[0] : 'simple';
}

/** Removes code, markup and URLs, which have no language. */
function proseOf(text: string): string {
  let isCode = false;
  const lines = text.split('\n').filter((line) => {
    const isFence = /^\s*(```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    return !isFence && !isCode;
  });
  // The bounds keep a text of opening characters from taking quadratic time.
  return lines
    .join('\n')
    .replace(/`[^`\n]{1,200}`|https?:\S{1,500}|<\/?[a-z][^<>]{0,500}>|\]\([^()\s]{1,500}\)/gi, ' ');
}

export const stemmed: Record<string, string> = {
  arabic: 'في من على إلى أن هذا هذه التي الذي عن مع ما لا هو هي كان بعد قبل كل عند لم أو كما بين ذلك',
  armenian: 'և է որ են համար այս մեջ ու հետ նաև մի ես նա իր կամ բայց չի մենք դուք',
  basque: 'eta da ez bat du dira ere baina edo zen dute hau hori izan egin duen den bere gure behar',
  catalan: 'i el la els les de del que en un una per amb és no al com més són aquest aquesta ha però o seu',
  danish: 'og i at det er en til af på for med ikke den der de har du som et om jeg men kan skal eller vi hvad også',
  dutch: 'de het een en van in is dat op te voor met zijn niet aan er om ook als dan bij naar wij u kan of deze uw',
  english:
    'the of and to in a is that for it on with as are be this by you your we not or from at have can if will our what how when do',
  finnish: 'ja on ei se että en joka mutta ovat tai kun niin myös jos hän ne sen mitä voi tämä kuin ole oli sinun',
  french:
    'le la les de des du et un une est en que qui dans pour pas sur au aux ce cette vous nous avec par plus ne sont votre ou',
  german:
    'der die das und ist in zu den mit von nicht ein eine sie auf für im dem des es ich wir auch an als bei oder werden wird sich wie',
  greek: 'και το η ο να τα της του των στο στη με για από που δεν είναι θα σας μας ή αυτό ένα μια τον την',
  hindi: 'के में है की का से को और हैं पर यह कि ने एक लिए नहीं भी हो तो आप या था जो इस कर',
  hungarian: 'a az és hogy nem is egy van ez meg de ha csak azt vagy kell mint már el ki még lehet ezt nincs',
  indonesian:
    'yang dan di ini itu dengan untuk dari tidak dalam akan pada ke anda kami atau juga adalah bisa ada saya telah oleh',
  irish: 'agus an na ar is le go do bhí tá sé seo ní ag chun ó mar sin nó atá faoi aon ach',
  italian:
    'il la di che e è un una per in non con del della i le gli si da al sono come più nel alla questo o anche ma dei',
  lithuanian: 'ir yra kad į su iš tai ne kaip ar bet o už nuo apie po jis buvo per taip pat mes jūs arba gali',
  nepali: 'र छ को मा यो पनि छन् भने हो गर्न लागि त्यो तपाईं हुन्छ गरेको थियो बाट सँग एक',
  norwegian:
    'og i det er en til av på for med ikke den de har du som et om jeg men kan skal eller vi hva også å seg etter',
  portuguese:
    'o a de que e do da em um uma para é com não os as no na por mais se dos das ao você como mas são ou seu nos pelo',
  romanian: 'și de la în a cu nu este pe un o să din care pentru că mai sunt prin sau dar ce al ale fi ca am',
  russian: 'и в не на что с по как это из для он она вы мы они к у но за от или если при его может быть был',
  serbian:
    'и у је да на се за са од не су то као али или по ће бити који што из које može koji što će je da se su ili biti od',
  spanish:
    'el la de que y en los las un una es por con no para del se al lo su como más o pero sus usted si está son este qué',
  swedish:
    'och i att det är en till av på för med inte den som de har du ett om jag men kan ska eller vi vad också från',
  tamil: 'மற்றும் ஒரு இது அது என்று இந்த அந்த உள்ள என அல்லது வேண்டும் இல்லை நான் நீங்கள் போது கொண்டு',
  turkish: 've bir bu için ile da de ne çok daha olarak var mı mi en gibi ama veya değil olan kadar sonra her biz siz',
  yiddish: 'און די דער איז אַ צו אין דאָס פֿון ניט מיט מען איך זיי אויף האָט ער זײַן פֿאַר',
};

/** Languages without a stemmer, so that they are not taken for a similar language that has one. */
const unstemmed: Record<string, string> = {
  bulgarian: 'и на да се от за в не е са с по като това ще но или който ако при си има също може',
  croatian: 'i je u na da se za su od ne s koji to će kao ili ali biti što može iz po koja bi nije',
  czech: 'a se v na je že o s z do i to jako za pro ale nebo by jsou od po při které který není být',
  estonian: 'ja on ei et see kui ka ta oma või mis aga meie teie kes siis selle oli ole saab',
  hebrew: 'של את על לא זה עם הוא היא או גם כי אני כל אם יש אנחנו מה אבל אין להיות',
  latvian: 'un ir ar no uz par ka kas vai lai tas bet ja arī pēc nav šo jūs mēs pie',
  marathi: 'आणि आहे या तो ती हे च्या ला ने होते नाही आहेत किंवा मी तुम्ही साठी करा पण',
  persian: 'و در به از که این را با است برای آن یک تا بر هم نیز شما ما می شود کرد باید یا',
  polish: 'i w na z do nie się to że jest o jak za od po dla ale przez są lub czy oraz być może który',
  slovak: 'a sa v na je že o s z do aj to ako za pre ale alebo by sú od po pri ktoré ktorý nie byť',
  ukrainian: 'і в не на що з до та як це для у є або але за від при його може бути ви ми вони якщо',
  urdu: 'کے میں ہے کی کا سے کو اور ہیں پر یہ کہ نے ایک لیے نہیں بھی ہو تو آپ یا تھا جو اس',
  vietnamese: 'và là của có không được trong cho các một với những này đã người khi để tôi bạn từ hoặc về nếu',
};

const languagesByWord = new Map<string, string[]>();
for (const [language, words] of Object.entries({ ...stemmed, ...unstemmed })) {
  for (const word of new Set(words.split(' '))) {
    languagesByWord.set(word, [...(languagesByWord.get(word) ?? []), language]);
  }
}

/** Whether a word says nothing about the subject of a text: it is one of the most frequent words of a language. */
export const isCommonWord = (word: string): boolean => languagesByWord.has(word);
