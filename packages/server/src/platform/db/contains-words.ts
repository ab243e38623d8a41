import { type Sql, sql } from './sql.ts';

/** A search for words reads these rows at most, newest first. */
export const maxSearched = 10_000;

/** More words narrow a search no further than people can follow. */
const maxWords = 10;

/** Words beyond these characters of a text are not found. Otherwise long texts would make one search take seconds. */
const maxSearchedLength = 1_000;

/** True if the text contains each word, in any case and order. The words are compared, never used as a pattern. */
export function containsWordsSql(text: Sql, words: string): Sql {
  const parts = words.toLowerCase().split(/\s+/u).filter(Boolean).slice(0, maxWords);
  if (parts.length === 0) return sql`true`;
  // OFFSET keeps the text from being computed once per word.
  return sql`(SELECT bool_and(strpos(searched.text, word) > 0)
    FROM (SELECT lower(left(${text}, ${maxSearchedLength})) AS text OFFSET 0) AS searched, unnest(${parts}::text[]) AS word)`;
}
