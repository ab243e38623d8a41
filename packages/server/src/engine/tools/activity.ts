const longestValue = 60;
const longestLine = 200;

/**
 * Writes the arguments of a call into the activity of its function: `Looking up order {number}`. Only texts, numbers and
 * flags are shown, each on one line. A missing argument leaves no gap.
 */
export function fillActivity(activity: string, given: unknown): string {
  const values = new Map(typeof given === 'object' && given !== null ? Object.entries(given) : []);
  const filled = activity.replace(/\{([^{}]*)\}/g, (_, name: string) => shownValue(values.get(name.trim())));
  return cut(filled.replace(/[\s\p{Cc}]+/gu, ' ').trim(), longestLine);
}

const shownValue = (value: unknown): string =>
  ['string', 'number', 'boolean'].includes(typeof value) ? cut(String(value), longestValue) : '';

function cut(line: string, most: number): string {
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
