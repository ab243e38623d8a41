import type { Heading, Nodes, Root, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { colouredCode, escapeHtml } from './code-colours.ts';

export type Page = {
  title: string;
  html: string;
  /** The headings below the title. */
  headings: { depth: number; text: string; anchor: string }[];
  /** The search index: each heading with its text. The first entry is the title, without an anchor. */
  sections: { heading: string; anchor: string; text: string }[];
};

/** Maps a link to the site. Null removes the link and keeps its text. */
export type Resolve = (target: string) => string | null;

/** Renders Markdown as HTML. Inline HTML is dropped, because the content security policy forbids it. */
export function renderMarkdown(source: string, resolve: Resolve, linkOfCode: (code: string) => string | null): Page {
  const tree = parseMarkdown(source);
  const anchors = anchorsOf(tree);
  const title = headingsIn(tree).find(({ depth }) => depth === 1);
  const titleText = title ? textOf(title) : '';
  const sections: Page['sections'] = [{ heading: titleText, anchor: '', text: '' }];
  const headings: Page['headings'] = [];
  const parts = tree.children.map((node) => {
    if (node.type === 'heading' && node !== title) {
      const heading = { depth: node.depth, text: textOf(node), anchor: anchors.get(node) ?? '' };
      headings.push(heading);
      sections.push({ heading: heading.text, anchor: heading.anchor, text: '' });
    } else if (node !== title) {
      const section = sections.at(-1);
      if (section) section.text = `${section.text} ${textOf(node)}`.trim();
    }
    return htmlOf(node);
  });
  return { title: titleText, html: parts.join('\n'), headings, sections };

  function htmlOf(node: Nodes): string {
    switch (node.type) {
      case 'text':
        return escapeHtml(node.value);
      case 'paragraph':
        return `<p>${inside(node)}</p>`;
      case 'heading':
        return headingHtml(node);
      case 'emphasis':
        return `<em>${inside(node)}</em>`;
      case 'strong':
        return `<strong>${inside(node)}</strong>`;
      case 'delete':
        return `<del>${inside(node)}</del>`;
      case 'inlineCode':
        return inlineCodeHtml(node.value);
      case 'code':
        return codeHtml(node.value, node.lang ?? '', node.meta ?? '');
      case 'link':
        return linkHtml(node.url, inside(node));
      case 'image':
        return imageHtml(resolve(node.url) ?? '', node.alt ?? '');
      case 'list':
        return node.ordered
          ? `<ol${node.start && node.start !== 1 ? ` start="${node.start}"` : ''}>${inside(node)}</ol>`
          : `<ul>${inside(node)}</ul>`;
      case 'listItem':
        return `<li>${node.children.map((child) => (child.type === 'paragraph' && !node.spread ? inside(child) : htmlOf(child))).join('\n')}</li>`;
      case 'blockquote':
        return `<blockquote>${inside(node)}</blockquote>`;
      case 'table':
        return tableHtml(node);
      case 'thematicBreak':
        return '<hr>';
      case 'break':
        return '<br>';
      case 'html':
        // Markdown has no syntax for a line break inside a table.
        return /^<br ?\/?>$/.test(node.value) ? '<br>' : '';
      default:
        throw new Error(`The guide cannot show a ${node.type} (line ${node.position?.start.line}).`);
    }
  }

  function inside(node: Extract<Nodes, { children: unknown }>): string {
    return node.children.map((child) => htmlOf(child as Nodes)).join('');
  }

  function headingHtml(node: Heading): string {
    if (node === title) return `<h1>${inside(node)}</h1>`;
    const anchor = escapeHtml(anchors.get(node) ?? '');
    const link = `<a class="anchor" href="#${anchor}" aria-label="Link to “${escapeHtml(textOf(node))}”">#</a>`;
    return `<h${node.depth} id="${anchor}">${inside(node)}${link}</h${node.depth}>`;
  }

  function inlineCodeHtml(code: string): string {
    const link = linkOfCode(code);
    const html = `<code>${escapeHtml(code)}</code>`;
    return link === null ? html : `<a href="${escapeHtml(link)}">${html}</a>`;
  }

  function linkHtml(target: string, words: string): string {
    const resolved = resolve(target);
    return resolved === null ? words : `<a href="${escapeHtml(resolved)}">${words}</a>`;
  }

  function tableHtml(table: Table): string {
    const [head, ...rows] = table.children.map(({ children }) =>
      children.map((cell, column) => ({ html: inside(cell), side: table.align?.[column] ?? null })),
    );
    const cell = (tag: string, { html, side }: { html: string; side: string | null }) =>
      `<${tag}${side ? ` class="${side}"` : ''}>${html}</${tag}>`;
    const row = (tag: string, cells: typeof head) =>
      // An empty header cell is a plain cell.
      `<tr>${(cells ?? []).map((each) => cell(each.html === '' ? 'td' : tag, each)).join('')}</tr>`;
    // Markdown writes a table without a header as one with empty header cells.
    const heading = head?.some(({ html }) => html !== '') ? `<thead>${row('th', head)}</thead>` : '';
    return `<div class="table" tabindex="0" role="group" aria-label="Table"><table>${heading}<tbody>${rows.map((cells) => row('td', cells)).join('')}</tbody></table></div>`;
  }
}

export const parseMarkdown = (source: string): Root =>
  fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** The same anchors as on GitHub, so that links work in both places. */
export function anchorsOf(tree: Root): Map<Heading, string> {
  const seen = new Map<string, number>();
  return new Map(
    headingsIn(tree).map((heading) => {
      const plain = textOf(heading)
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
        .replaceAll(' ', '-');
      const times = seen.get(plain) ?? 0;
      seen.set(plain, times + 1);
      return [heading, times === 0 ? plain : `${plain}-${times}`];
    }),
  );
}

const headingsIn = (tree: Root): Heading[] => tree.children.filter((node) => node.type === 'heading');

/** The plain text of a node, with spaces between blocks. */
function textOf(node: Nodes): string {
  if (node.type === 'html') return ' ';
  if ('value' in node) return node.value;
  if (!('children' in node)) return '';
  const between = ['paragraph', 'heading', 'emphasis', 'strong', 'link', 'delete', 'tableCell'].includes(node.type);
  return node.children.map(textOf).join(between ? '' : ' ');
}

/** A code block. `title="service.yaml"` adds a caption. */
function codeHtml(code: string, language: string, meta: string): string {
  const name = /\btitle="([^"]+)"/.exec(meta)?.[1];
  const label = name ? `<figcaption>${escapeHtml(name)}</figcaption>` : '';
  return `<figure class="code">${label}<pre tabindex="0"><code>${colouredCode(code, language)}</code></pre></figure>`;
}

/** A picture of a page exists in two versions, so that it fits the scheme of the reader. */
function imageHtml(address: string, alt: string): string {
  const image = `<img src="${escapeHtml(address)}" alt="${escapeHtml(alt)}">`;
  if (!address.endsWith('-light.webp')) return image;
  const dark = address.replace(/-light\.webp$/, '-dark.webp');
  return `<picture><source media="(prefers-color-scheme: dark)" srcset="${escapeHtml(dark)}">${image}</picture>`;
}
