import { type Sql, sql } from './sql.ts';

/** More words narrow a search no further than people can follow. */
const maxWords = 10;

/** True if the text contains each word, in any case and order. The words are compared, never used as a pattern. */
export function containsWordsSql(text: Sql, words: string): Sql {
  const parts = words.toLowerCase().split(/\s+/u).filter(Boolean).slice(0, maxWords);
  return sql.and(sql`true`, ...parts.map((word) => sql`strpos(lower(${text}), ${word}) > 0`));
}
