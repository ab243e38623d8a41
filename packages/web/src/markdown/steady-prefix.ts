/**
 * The beginning of a growing Markdown text that is drawn the same however the text continues. The end of the last line is
 * left out while it may still turn out to be a mark: the reader would see it as text for a moment, and then everything
 * below it would move.
 */
export function steadyPrefix(text: string): string {
  const lineStart = text.lastIndexOf('\n') + 1;
  const line = text.slice(lineStart);
  if (isOpenMark.test(line)) return text.slice(0, lineStart).trimEnd();
  const table = openTable(text);
  if (table !== null) return text.slice(0, table).trimEnd();
  const inline = openInline.exec(line);
  return inline ? text.slice(0, lineStart + inline.index) : text;
}

/**
 * A line that may become a list item, a heading, a quote, a ruler, the underline of a heading, or a fence with the language
 * of its code.
 */
const isOpenMark = /^\s{0,12}(?:[-*+=_ \t]+|(?:\d{1,9}[.)]?|#{1,6}|>+)\s*|`{1,3}[^`\n]*|~{1,3}[^~\n]*)$/;

/** A bracket of a source, a line break as HTML, or a backslash before a mark. */
const openInline = /(?:\s?\[\d{0,4}(?:,\s?\d{0,4})*|<[a-z/ ]{0,4}|\\)$/i;

/** Where a table begins that has no body yet. Its first line alone would be a paragraph. */
function openTable(text: string): number | null {
  const found = /(?:^|\n)([ \t]{0,3}\|[^\n]*)(\n[ \t]{0,3}\|?[ \t:|-]*)?$/.exec(text);
  if (!found) return null;
  const start = found.index + (found[0].startsWith('\n') ? 1 : 0);
  // A line below a table that has begun is one of its rows.
  const before = text.slice(0, start).trimEnd().split('\n').at(-1) ?? '';
  return /^[ \t]{0,3}\|/.test(before) && text[start - 2] !== '\n' ? null : start;
}
