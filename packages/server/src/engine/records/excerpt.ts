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
