import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

type MarkdownNode = { type: string; value?: string; alt?: string | null; children?: MarkdownNode[] };

/** More than fits into a line of any width. */
const longestRead = 500;

/** The beginning of a text of a model without the signs of Markdown, for a single line. */
export function plainWords(text: string): string {
  const root = fromMarkdown(text.slice(0, longestRead), {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });
  return wordsOf(root).replace(/\s+/g, ' ').trim();
}

const ofPhrases: ReadonlySet<string> = new Set(['paragraph', 'heading', 'tableCell', 'emphasis', 'strong', 'delete']);

function wordsOf({ type, value, alt, children = [] }: MarkdownNode): string {
  if (type === 'break') return ' ';
  const isOfPhrases = ofPhrases.has(type) || type.startsWith('link');
  return value ?? alt ?? children.map(wordsOf).join(isOfPhrases ? '' : ' ');
}
