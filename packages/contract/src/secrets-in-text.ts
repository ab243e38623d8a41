/** References to secrets inside a text such as a header value or an environment variable. */
const reference = /\$\{(?:(secret|user_secret):)?([A-Z][A-Z0-9_]{0,63})\}/g;

/** The names of the company's secrets and of each user's own that a text refers to, each once. */
export function secretsIn(text: string): { company: string[]; user: string[] } {
  const found = [...text.matchAll(reference)];
  const names = (isUser: boolean) => [
    ...new Set(found.filter(([, kind]) => (kind === 'user_secret') === isUser).map(([, , name]) => name as string)),
  ];
  return { company: names(false), user: names(true) };
}

/** `${NAME}` becomes `${secret:NAME}`, the one form in which a server shows it. */
export const withFullReferences = (text: string): string =>
  text.replace(reference, (_, kind: string | undefined, name: string) => `\${${kind ?? 'secret'}:${name}}`);

/** `${secret:NAME}` becomes `${NAME}`, as a file writes it. */
export const withShortReferences = (text: string): string =>
  text.replace(reference, (_, kind: string | undefined, name: string) =>
    kind === 'user_secret' ? `\${user_secret:${name}}` : `\${${name}}`,
  );

/** The text with the values in place, in one pass: a value that reads like a reference is never taken for one. */
export const withSecretValues = (
  text: string,
  values: { company: ReadonlyMap<string, string>; user: ReadonlyMap<string, string> },
): string =>
  text.replace(reference, (whole, kind: string | undefined, name: string) => {
    const known = kind === 'user_secret' ? values.user : values.company;
    return known.get(name) ?? whole;
  });
