import { indexedText } from '../../agents/notebooks/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { rowsOf, runStatement } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';
import { type ConversationRow, type MessageRow, messages } from './tables.ts';

type Place = Pick<ConversationRow, 'id' | 'org_id' | 'mode'>;

/** Inserts the preview of a conversation from its first message. Empty if that has neither text nor files. */
export function insertPreviewSql({ id, org_id, mode }: Place, first: MessageRow): Sql {
  const preview = previewOf(first);
  if (preview === '') return sql.empty;
  return sql`INSERT INTO conversation_previews (conversation_id, org_id, mode, preview, words)
    VALUES (${id}, ${org_id}, ${mode}, ${preview}, array_to_tsvector(${wordsOf(preview)}::text[]))`;
}

/** The same for many conversations at once. */
export const insertPreviewsStatement = (begun: readonly { conversation: Place; asked: MessageRow }[]) =>
  runStatement(sql`INSERT INTO conversation_previews (conversation_id, org_id, mode, preview, words)
    SELECT id, org_id, mode, preview, array_to_tsvector(words)
    FROM json_to_recordset(${sql.json(
      begun.map(({ conversation: { id, org_id, mode }, asked }) => {
        const preview = previewOf(asked);
        return { id, org_id, mode, preview, words: wordsOf(preview) };
      }),
    )}) AS p(id text, org_id text, mode text, preview text, words text[])
    WHERE preview <> ''`);

/** The preview of each conversation that has one. Rows of an older version are read from their first message. */
export async function previewsOf(
  db: Executor,
  conversations: readonly Pick<ConversationRow, 'id' | 'turn_count'>[],
): Promise<Map<string, string>> {
  const ids = conversations.filter(({ turn_count }) => turn_count > 0).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = await rowsOf(
    db,
    {
      id: text(),
      preview: text().nullable(),
      said: text().nullable(),
      attachments: messages.columns.attachments.nullable(),
    },
    sql`SELECT wanted.id, p.preview, first.text AS said, first.attachments
      FROM unnest(${ids}::text[]) AS wanted(id)
      LEFT JOIN conversation_previews p ON p.conversation_id = wanted.id
      LEFT JOIN LATERAL (
        SELECT m.text, m.attachments FROM turns t
        JOIN messages m ON m.conversation_id = t.conversation_id AND m.id = t.message_id
        WHERE p.conversation_id IS NULL AND t.conversation_id = wanted.id AND t.ordinal = 1
      ) AS first ON true`,
  );
  const shown = rows.map(({ id, preview, said, attachments }): [string, string] => [
    id,
    preview ?? previewOf({ text: said ?? '', attachments: attachments ?? [] }),
  ]);
  return new Map(shown.filter(([, preview]) => preview !== ''));
}

/** Whether the preview of the conversation in `recent` has a word that starts with each word of the query. */
export function hasWordsSql(query: string): Sql {
  const words = tsqueryOf(query);
  if (words === null) return sql`FALSE`;
  return sql`(SELECT words FROM conversation_previews WHERE conversation_id = recent.id) @@ ${words}::tsquery`;
}

/** The conversations of the tenant with such words, by the index. */
export function idsWithWordsSql({ orgId, mode }: Tenant, query: string): Sql {
  return sql`SELECT conversation_id FROM conversation_previews
    WHERE ARRAY[org_id || ' ' || mode] @> ARRAY[${`${orgId} ${mode}`}] AND words @@ ${tsqueryOf(query)}::tsquery`;
}

/** Null if the query has no words, which finds nothing. */
function tsqueryOf(query: string): string | null {
  const words = wordsOf(query).slice(0, maxQueryWords);
  return words.length === 0 ? null : words.map((word) => `'${word}':*`).join(' & ');
}

const maxQueryWords = 16;

/** Letters and digits only, so a word needs no quoting in a query. */
const wordsOf = (of: string): string[] => [...new Set(indexedText(of).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])];

/** The longest preview of a conversation. */
const maxPreview = 200;
const maxTitle = 80;

/** The first words of a text in one line, at most `max` characters. It ends after a whole word if there is one. */
export function excerptOf(text: string, max: number): string {
  // A character is at most two units. Four times as many leave room for spaces that are removed.
  const line = text
    .slice(0, max * 8)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...line.slice(0, max * 2 + 2)];
  if (characters.length <= max) return line;
  const cut = characters.slice(0, max - 1).join('');
  const lastSpace = cut.lastIndexOf(' ');
  return `${cut.slice(0, lastSpace > cut.length / 2 ? lastSpace : undefined).trimEnd()}…`;
}

/** The first words of a message or, without text, the names of its files. */
export const previewOf = ({ text, attachments }: { text: string; attachments: readonly { filename: string }[] }) =>
  excerptOf(text, maxPreview) || excerptOf(attachments.map(({ filename }) => filename).join(', '), maxPreview);

/** The name of a task: from its plan or its hand-off, or else from the message that started it. */
export function titleOf({ title, ask }: { title: string | null; ask: string | null }): string {
  if (title !== null) return title;
  const [first = ''] = (ask ?? '').trimStart().split(/\n/, 1);
  return excerptOf(first, maxTitle) || 'Task';
}
