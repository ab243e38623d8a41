/** Stands where a credential stood. */
const hidden = '•••';

/** Names of arguments that carry a credential, in whole words: `token` and `apiKey`, not `tokenise` or `keyboard`. */
const names =
  /(^| )(pass ?words?|pass ?codes?|pass ?phrases?|passwd|pwd|secrets?|tokens?|(api|access|private|secret|signing) ?keys?|credentials?|authorization|cookies?|cvv|cvc|pin|otp|card numbers?)$/;

/** Keys as well-known services write them, bearer values and private keys. */
const values =
  /\b((sk|pk|rk|vk|vst|whsec|ghp|gho|ghs|github_pat|glpat|xox[abposr])[-_][A-Za-z0-9_-]{12,}|AKIA[A-Z0-9]{16}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)|\bBearer +[\w.~+/=-]{12,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g;

/** Longer than anything that is shown: what lies behind it is neither searched nor kept. */
const mostShown = 2000;

/** An argument as it may be shown to whoever reads what waits, which is more people than may know a credential. */
export function withoutCredentials(name: string, value: unknown): unknown {
  if (names.test(wordsOf(name)) && !isPlain(value)) return hidden;
  if (typeof value === 'string') return value.slice(0, mostShown).replace(values, hidden);
  if (Array.isArray(value)) return value.map((each) => withoutCredentials('', each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutCredentials(key, inner)]));
}

/** In the words of a question, also in the middle of a sentence. */
const asked =
  /\b(pass ?(word|code|phrase)|one[- ]time (pass)?(word|code)|verification code|security code|otp|2fa|pin( code)?|(credit |debit )?card (number|details)|cvc|cvv|(api|secret|private|access|signing) ?keys?|access tokens?|client secret|secrets?|social security number|seed phrase)s?\b/i;

/** Whether the name of a field, or what a question says, asks for what nobody should type into a form of others. */
export const asksForCredential = (text: string): boolean => names.test(wordsOf(text)) || asked.test(wordsOf(text));

/** `reset_password: true` gives nothing away. */
const isPlain = (value: unknown) => value === null || typeof value === 'boolean';

const wordsOf = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, ' ')
    .trim();
