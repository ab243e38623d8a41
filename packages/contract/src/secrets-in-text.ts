/** References to secrets inside a text such as a header value or an environment variable. */
const reference = /\$\{(?:(secret|user_secret):)?([A-Z][A-Z0-9_]{0,63})\}/g;

/** The names of the company's and the users' secrets in a text, each once. */
export function secretsIn(text: string): { company: string[]; user: string[] } {
  const found = [...text.matchAll(reference)];
  const names = (isUser: boolean) => [
    ...new Set(found.filter(([, kind]) => (kind === 'user_secret') === isUser).map(([, , name]) => name as string)),
  ];
  return { company: names(false), user: names(true) };
}

/** Expands `${NAME}` to `${secret:NAME}`, the form that a server shows. */
export const withFullReferences = (text: string): string =>
  text.replace(reference, (_, kind: string | undefined, name: string) => `\${${kind ?? 'secret'}:${name}}`);

/** Shortens `${secret:NAME}` to `${NAME}`, as in a file. */
export const withShortReferences = (text: string): string =>
  text.replace(reference, (_, kind: string | undefined, name: string) =>
    kind === 'user_secret' ? `\${user_secret:${name}}` : `\${${name}}`,
  );

/** Inserts the values in one pass, so that a value that looks like a reference is not expanded. */
export const withSecretValues = (
  text: string,
  values: { company: ReadonlyMap<string, string>; user: ReadonlyMap<string, string> },
): string =>
  text.replace(reference, (whole, kind: string | undefined, name: string) => {
    const known = kind === 'user_secret' ? values.user : values.company;
    return known.get(name) ?? whole;
  });
