import TurndownService from 'turndown';

/** What a page holds besides its text; its title is no part of what it says, and would run into the first line. */
const notText = new Set(
  'title script style noscript template iframe object canvas svg button select textarea'.toUpperCase().split(' '),
);

export function htmlToMarkdown(html: string): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove((node) => notText.has(node.nodeName.toUpperCase()));
  service.addRule('image', { filter: 'img', replacement: (_content, node) => imageOf(node as HTMLElement) });
  // A row has to stay one line: which price belongs to which product is told by nothing else.
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) => ` ${content.replace(/\s+/g, ' ').trim()} |`,
  });
  service.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => `|${content}\n${isHeader(node) ? ruleBelow(node) : ''}`,
  });
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  service.addRule('part of a table', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
  return service.turndown(html);
}

/** A picture inside the page is bytes, not text. */
function imageOf(node: HTMLElement): string {
  const alternative = (node.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim();
  const source = node.getAttribute('src') ?? '';
  if (source === '' || source.startsWith('data:')) return alternative;
  return `![${alternative}](${source})`;
}

const isHeader = (row: Node) => row.childNodes.length > 0 && [...row.childNodes].every(isHeaderPart);
const isHeaderPart = (node: Node) => node.nodeName === 'TH' || node.nodeName === '#text';
const ruleBelow = (row: Node) =>
  `|${' --- |'.repeat([...row.childNodes].filter((node) => node.nodeName === 'TH').length)}\n`;
