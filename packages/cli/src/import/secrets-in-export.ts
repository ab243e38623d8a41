import { headerExposesCredential } from '@vestra/contract/exposed-credential';
import { refuse } from '../fault.ts';
import { isMap, joinedWords, type LooseMap, textIn } from './loose-value.ts';

/** A credential of the export. Only its name is ever kept. */
export type FoundSecret = { name: string; where: string };

const deepest = 200;

/** Formats of keys that are known by their first characters. Lengths are bounded, so that no text takes long. */
const knownForms = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:app|dataset)-[A-Za-z0-9]{20,}\b/g,
  /\bgh[opsur]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{16,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\beyJ[\w-]{10,4000}\.[\w-]{10,4000}\.[\w-]*/g,
  /\b(?:lsv2_|tvly-|hf_|vk_live_|vk_test_|ya29\.)[\w-]{16,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{1,20000}?-----END [A-Z ]*PRIVATE KEY-----/g,
];

/** A credential behind its name or scheme, such as `X-API-Key: …`; the group is the credential. */
const namedForms = [
  /\b(?:Bearer|Basic)\s+([A-Za-z0-9._~+/=-]{12,})/gi,
  /\b(?:authorization|api[-_ ]?key|access[-_ ]?token|auth[-_ ]?token|client[-_ ]?secret|secret|token|password|key)["']?\s*[:=]\s*["']?(?:Bearer |Basic )?((?=[^\s"'<>,;&]{0,200}\d)(?=[^\s"'<>,;&]{0,200}[A-Za-z])[^\s"'{}$<>,;&]{8,})/gi,
  /\/\/[^\s/:@]*:([^\s/@{}$]{3,})@/g,
];

/**
 * Replaces every credential of an export by `${NAME}`, before anything else reads it: by the name of its field, by the
 * type that the platform gave it, and by its form in any text.
 */
export function withoutSecrets(exported: unknown): { content: unknown; secrets: FoundSecret[] } {
  const names = new Map<string, string>();
  const secrets: FoundSecret[] = [];

  function nameOf(value: string, path: readonly string[]): string {
    const known = names.get(value);
    if (known) return known;
    const words = path.filter((each) => !/^\d+$/.test(each)).slice(-2);
    const base = joinedWords(words.join(' '), '_').toUpperCase().slice(0, 56) || 'SECRET';
    const start = /^[A-Z]/.test(base) ? base : `SECRET_${base}`;
    const isTaken = (name: string) => secrets.some((other) => other.name === name);
    let name = start;
    for (let number = 2; isTaken(name); number += 1) name = `${start}_${number}`;
    names.set(value, name);
    secrets.push({ name, where: path.join('.') });
    return name;
  }

  function collect(value: unknown, path: readonly string[]): void {
    if (path.length > deepest) throw refuse('The export is nested too deeply.');
    if (typeof value === 'string') {
      for (const found of credentialsIn(value)) nameOf(found, path);
      return;
    }
    if (Array.isArray(value)) for (const [index, each] of value.entries()) collect(each, [...path, String(index)]);
    if (!isMap(value)) return;
    for (const [key, each] of Object.entries(value)) {
      for (const found of credentialsIn(key)) nameOf(found, path);
      const credential = typeof each === 'string' && isCredentialField(value, key) ? bare(each) : '';
      // A variable with a name of its own is better known by it than by the word `value`.
      const own = textIn(value.name) || textIn(value.variable) || textIn(value.key);
      if (credential !== '') nameOf(credential, key === 'value' || key === 'default' ? [...path, own] : [...path, key]);
      else collect(each, [...path, key]);
    }
  }

  function replace(value: unknown): unknown {
    if (typeof value === 'string') return replaceIn(value);
    if (Array.isArray(value)) return value.map(replace);
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [replaceIn(key), replace(each)]));
  }

  function replaceIn(text: string): string {
    // The contract accepts no control characters but tabs and line breaks.
    let clean = text.toWellFormed().replace(/[^\P{Cc}\t\n\r]/gu, '');
    for (const [secret, name] of longestFirst) {
      // A short credential may be an ordinary word elsewhere.
      if (secret.length >= 8) clean = clean.replaceAll(secret, `\${${name}}`);
      else if (bare(clean) === secret) clean = clean.replace(secret, `\${${name}}`);
    }
    for (const found of credentialsIn(clean)) clean = clean.replaceAll(found, `\${${names.get(found) ?? 'SECRET'}}`);
    return clean;
  }

  collect(exported, []);
  const longestFirst = [...names].sort(([one], [other]) => other.length - one.length);
  const content = replace(exported);
  return { content, secrets: secrets.map(({ name, where }) => ({ name, where: replaceIn(where) })) };
}

function credentialsIn(text: string): string[] {
  return [
    ...knownForms.flatMap((form) => [...text.matchAll(form)].map(([found]) => found)),
    ...namedForms.flatMap((form) => [...text.matchAll(form)].map(([, found = '']) => found)),
  ].filter((found) => found !== '');
}

const secretTypes = new Set(['secret', 'secret-input', 'password']);

/** Whether the platform or the field's name marks the text as a credential. */
function isCredentialField(owner: LooseMap, key: string): boolean {
  if (key === 'value' || key === 'default') {
    const types = [owner.value_type, owner.type].map(textIn);
    return (
      types.some((type) => secretTypes.has(type)) || [owner.name, owner.variable, owner.key].some(isCredentialName)
    );
  }
  return isCredentialName(key);
}

/** `key` alone is the name of many harmless fields. */
const isCredentialName = (name: unknown): boolean =>
  typeof name === 'string' &&
  name.length <= 100 &&
  !/^keys?$/i.test(name) &&
  (headerExposesCredential(name, '') || /passw(or)?d|credential/i.test(name));

/** The credential of a field: without its scheme, and empty if it is a reference, a template or a sentence. */
function bare(value: string): string {
  const credential = value.trim().replace(/^(?:Bearer|Basic)\s+/i, '');
  return /\s|^$|\$\{|\{\{|^\*+$|^\[?(?:hidden|redacted|none|null|true|false|string)\]?$/i.test(credential)
    ? ''
    : credential;
}
