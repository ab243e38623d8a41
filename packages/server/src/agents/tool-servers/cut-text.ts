/** The first characters of Unicode of a text. Each has one or two units, so the first cut leaves little to count. */
export const cutText = (text: string, length: number): string =>
  [...text.slice(0, length * 2)].slice(0, length).join('').toWellFormed();
