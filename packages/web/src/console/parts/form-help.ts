const wordings: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [/^True: (.)/, (_, first = '') => first.toUpperCase()],
  [/^False: /, () => 'If off, '],
  [/^False (pauses)/, (_, act = '') => `Off ${act}`],
  [/; true (starts|resumes)/, (_, act = '') => `; on ${act}`],
  [/; null stops it/, () => '. Leave it empty to stop them'],
  [/, which null restores/, () => ', which an empty field restores'],
  [/; false: /gi, () => '. If off, '],
  [/; true: /gi, () => '. If on, '],
  [/^(?:Absent|Null)(?: or null| or absent)?: (.)/, (_, first = '') => `If empty: ${first}`],
  [/[;,.] (?:absent or null|null or absent|absent|null|empty)(?: \([^)]*\))?: /gi, () => '. If empty: '],
  [/[;,] null (?:clears|removes|deletes) (?:it|them)\b/g, () => '. Leave it empty for none'],
  [/[;,] null (clears|removes|deletes|keeps|means|for) /g, (_, act = '') => `. An empty field ${act} `],
];

/** Describes a field to a person, who leaves it empty or ticks it. The contract describes it to a program. */
export const formHelp = (description: string): string =>
  wordings.reduce((text, [pattern, write]) => text.replace(pattern, write), description);
