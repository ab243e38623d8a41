/** Replaces a credential. */
const hidden = '•••';

/** Argument names that carry a credential, as whole words: `token` and `apiKey`, but not `tokenise` or `keyboard`. */
const names =
  /(^| )(pass ?words?|pass ?codes?|pass ?phrases?|passwd|pwd|secrets?|tokens?|(api|access|private|secret|signing) ?keys?|credentials?|authorization|cookies?|cvv|cvc|pin|otp|card numbers?)$/;

/** Key formats of well-known services, bearer values and private keys. */
const values =
  /\b((sk|pk|rk|vk|vst|whsec|ghp|gho|ghs|github_pat|glpat|xox[abposr])[-_][A-Za-z0-9_-]{12,}|AKIA[A-Z0-9]{16}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)|\bBearer +[\w.~+/=-]{12,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g;

/** Longer than any value that is shown. The rest is neither searched nor stored. */
const mostShown = 2000;

/** Redacts an argument for display: more people may read a pending request than may know a credential. */
export function withoutCredentials(name: string, value: unknown, longest = mostShown): unknown {
  if (names.test(wordsOf(name)) && !isPlain(value)) return hidden;
  if (typeof value === 'string') return value.slice(0, longest).replace(values, hidden);
  if (Array.isArray(value)) return value.map((each) => withoutCredentials('', each, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withoutCredentials(key, inner, longest)]),
  );
}

/** Phrases inside a question, also in the middle of a sentence. */
const asked =
  /\b(pass ?(word|code|phrase)|one[- ]time (pass)?(word|code)|verification code|security code|otp|2fa|pin( code)?|(credit |debit )?card (number|details)|cvc|cvv|(api|secret|private|access|signing) ?keys?|access tokens?|client secret|secrets?|social security number|seed phrase)s?\b/;

/**
 * The same phrases in the other languages of the session page, in the form of `wordsOf`: Latin letters without accents.
 */
const askedElsewhere = new RegExp(
  [
    // German: such words are also parts of longer words.
    'passwort|kennwort|losungswort|geheimzahl|zugangsdaten|anmeldedaten|kartennummer|kartendaten|prufnummer|prufziffer',
    '(api|zugriffs|zugangs|sicherheits|privater?n?|geheimer?n?) ?schlussel|(einmal|sicherheits|bestatigungs|verifizierungs) ?code|\\btan\\b',
    // Spanish and Portuguese.
    '\\bcontrasenas?\\b|\\b(clave|chave) (secreta|privada|de acceso|de acesso|(de )?api)\\b|\\bclaves?$|\\bsenhas?\\b|\\bpalavras? passe\\b',
    '\\bcodigo (de (verificacion|verificacao|seguridad|seguranca|acceso|acesso|un solo uso)|pin|secreto)\\b',
    '\\b(numero|datos|dados) (de|da|do) ((la|tu|su|seu|sua|teu|tua) )?(tarjeta|cartao)\\b|\\bfrase (semilla|semente)\\b',
    // French.
    '\\bmots? de passe\\b|\\bcode (secret|confidentiel|de verification|de securite|a usage unique|pin)\\b|\\bcle (secrete|privee|d acces|(d )?api)\\b',
    '\\b(numero|coordonnees) (de|du) ((la|ta|sa|votre) )?carte\\b|\\bjeton d acces\\b|\\bphrase de recuperation\\b',
    // Arabic, with and without the article.
    'كلمة (ال)?(مرور|سر)|(ال)?رقم (ال)?سري|(ال)?رمز (ال)?(سري|تحقق|امان|مرور)|رقم (ال)?بطاقة|مفتاح (ال)?(سري|خاص|api)',
    // Hindi and Japanese.
    'पासवर्ड|पासकोड|ओटीपी|पिन (कोड|नंबर)|पिन$|कार्ड (नंबर|संख्या)|सत्यापन कोड|गुप्त (कोड|कुंजी)|सीवीवी',
    'パスワード|パスコード|暗証番号|(認証|確認|セキュリティ) ?コード|ワンタイム|カード ?(番号|情報)|秘密鍵|(api|アクセス|シークレット) ?キー|アクセス ?トークン',
  ]
    .map((words) => words.normalize('NFKD'))
    .join('|'),
  'u',
);

/**
 * Detects field names and questions that ask for a credential. It knows words, not intentions: a malicious author can
 * find a wording that no list contains.
 */
export function asksForCredential(text: string): boolean {
  const words = wordsOf(text);
  return names.test(words) || asked.test(words) || askedElsewhere.test(words);
}

/** `reset_password: true` reveals nothing. */
const isPlain = (value: unknown) => value === null || typeof value === 'boolean';

/**
 * Lowercases, keeps letters and digits of any script, joins words with single spaces, and removes Latin and Arabic
 * diacritics.
 */
const wordsOf = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u064b-\u0655\u0640]/g, '')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
