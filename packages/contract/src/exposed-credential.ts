import { secretsIn } from './secrets-in-text.ts';

/** Whether a URL carries a credential: a user name, a password, or a query parameter named like one. */
export function urlExposesCredential(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, searchParams } = new URL(text);
  if (username !== '' || password !== '') return true;
  return [...searchParams.keys()].some((name) => says(name, ['key', 'token', 'secret', 'password', 'auth']));
}

const credentialHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** Whether a credential header is written without a reference to a stored secret. */
export function headerExposesCredential(name: string, value: string): boolean {
  const isCredential = credentialHeaders.has(name.toLowerCase()) || says(name, ['key', 'token', 'secret']);
  if (!isCredential) return false;
  const { company, user } = secretsIn(value);
  return company.length + user.length === 0;
}

/** Whether a variable named like a credential is written without a reference to a stored secret. */
export function variableExposesCredential(name: string, value: string): boolean {
  const words = name
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  const last = words.at(-1) ?? '';
  if (value === '' || words.includes('public') || !says(last, ['key', 'token', 'secret', 'password'])) return false;
  return secretsIn(value).company.length === 0;
}

/** Words that precede one of these in a joined name, such as `apikey` or `accesstoken`. */
const joined = 'api|access|app|auth|bearer|client|id|private|refresh|secret|session|subscription|user';

/** Matches whole words: `author` is not `auth`, and `monkey` is not a key. */
function says(name: string, words: readonly string[]): boolean {
  const pattern = new RegExp(`^(${joined})*(${words.join('|')})s?$`);
  const parts = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return parts.split(/[^a-z]+/).some((part) => pattern.test(part));
}
