/** Shorter values are no credentials, and stand in texts by chance. */
const shortest = 4;

/** The text without the values of these secrets. The longest goes first: it may have another one within it. */
export function hideSecrets(text: string, values: Iterable<string>): string {
  const sent = [...values].map((value) => value.trim()).filter((value) => value.length >= shortest);
  return sent
    .sort((one, other) => other.length - one.length)
    .reduce((left, value) => left.replaceAll(value, '[secret]'), text);
}
