import { splitAtMarks } from '@vestra/contract/source-marks';
import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { toHast } from 'mdast-util-to-hast';
import { gfm } from 'micromark-extension-gfm';
import { type ComponentProps, isValidElement, memo, type ReactNode, useContext, useDeferredValue } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import remend from 'remend';
import { MarkNumbers } from './mark-numbers.ts';

type Root = ReturnType<typeof fromMarkdown>;
type Block = Root['children'][number];
type Components = NonNullable<Parameters<typeof toJsxRuntime>[1]['components']>;

/** The parts that each page draws in its own style. */
type MarkdownLook = {
  Code: (props: { code: string; language: string }) => ReactNode;
  Table: (props: { children?: ReactNode }) => ReactNode;
  /** The address of an image. Loading it would reveal the reader to its host, so it is a link. */
  ImageLabel: (props: { host: string; alt: string | undefined }) => ReactNode;
  /** The level of all headings, for a page whose outline must stay in order. Without it, headings keep their level. */
  headings?: 'h2';
  /** The reference of a cited passage. Without it, marks are shown as they were written. */
  Reference?: (props: { mark: number; number: number }) => ReactNode;
};

/** Renderers of the elements. Create them once per page: blocks are memoized. */
export const markdownElements = ({ Code, Table, ImageLabel, headings, Reference }: MarkdownLook): Components => ({
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  pre: ({ children }) => <Code {...codeIn(children)} />,
  table: ({ children }) => <Table>{children}</Table>,
  // Task list checkboxes are not interactive.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
  img: ({ src, alt }) => <Picture Label={ImageLabel} alt={alt} src={typeof src === 'string' ? src : undefined} />,
  // The name of an element that no Markdown creates.
  ...(Reference && { [markElement]: (props: WrittenMarks) => <Marks Reference={Reference} {...props} /> }),
  ...(headings && { h1: headings, h3: headings, h4: headings, h5: headings, h6: headings }),
});

const markElement = 'source-marks';

/** The numbers of a bracket, and the space before it. */
type WrittenMarks = { marks?: string; space?: string };

/** The references of one bracket. A mark that belongs to no source stays text. */
function Marks({
  marks = '',
  space = '',
  Reference,
}: WrittenMarks & { Reference: NonNullable<MarkdownLook['Reference']> }) {
  const numbers = useContext(MarkNumbers);
  const given = marks.split(',').map(Number);
  const known = given.filter((mark) => numbers.has(mark));
  const unknown = given.filter((mark) => !numbers.has(mark));
  return (
    <>
      {unknown.length > 0 && `${space}[${unknown.join(', ')}]`}
      {known.map((mark) => (
        <Reference key={mark} mark={mark} number={numbers.get(mark) as number} />
      ))}
    </>
  );
}

type MarkdownTextProps = {
  text: string;
  isGrowing: boolean;
  elements: Components;
  /** The caller adds text only once the last part is drawn, so no state may be skipped. */
  isPaced?: boolean;
};

/** Text of a model as Markdown. It may link to web and mail addresses, but must not load anything. */
export function MarkdownText({ text, isGrowing, elements, isPaced = false }: MarkdownTextProps) {
  // Deferred, so that slow phones can skip intermediate states.
  const deferred = useDeferredValue(text);
  const read = isPaced ? text : deferred;
  const source = isGrowing ? remend(read) : text;
  const root = fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  // With link definitions, blocks depend on each other and cannot be rendered separately.
  const isOfOneKind = root.children.every(({ type }) => type !== 'definition' && type !== 'footnoteDefinition');
  return (
    <div className="reply" dir="auto">
      {isOfOneKind ? (
        root.children.map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other name than its place, and none moves.
          <DrawnBlock block={block} elements={elements} key={at} source={sliceOf(source, block)} />
        ))
      ) : (
        <Drawn elements={elements} root={root} />
      )}
    </div>
  );
}

/** Memoized by source, so that only the last block of a growing reply is rendered. */
const DrawnBlock = memo(
  ({ block, elements }: { block: Block; source: string; elements: Components }) => (
    <Drawn elements={elements} root={{ type: 'root', children: [block] }} />
  ),
  (before, after) => before.source === after.source,
);

function Drawn({ root, elements }: { root: Root; elements: Components }) {
  // HTML in replies is shown as text and never becomes elements.
  const tree = toHast(markElement in elements ? withMarks(root) : root, {
    // Symbols instead of the English default labels.
    footnoteLabel: '—',
    footnoteBackLabel: '↩',
    handlers: { html: (_state, { value }) => (/^<br *\/?>$/i.test(value) ? breakElement : { type: 'text', value }) },
  });
  return toJsxRuntime(tree, { Fragment, jsx, jsxs, components: elements, ignoreInvalidStyle: true });
}

type MarkdownNode = { type: string; value?: string; children?: MarkdownNode[]; data?: object };

/** Marks are parts of texts, and not of links, whose text is the address of something else. */
function withMarks<Node extends MarkdownNode>(node: Node): Node {
  if (!node.children || node.type === 'link' || node.type === 'linkReference') return node;
  const children = node.children.flatMap((child): MarkdownNode[] => {
    if (child.type !== 'text' || !child.value?.includes('[')) return [withMarks(child)];
    return splitAtMarks(child.value).map((part, at, parts) => {
      if (typeof part !== 'string') return markNode(part, parts[at - 1]);
      // A reference stands at the word before it.
      return { type: 'text', value: typeof parts[at + 1] === 'object' ? part.trimEnd() : part };
    });
  });
  return { ...node, children };
}

const markNode = (marks: readonly number[], before: string | number[] | undefined): MarkdownNode => {
  const space = typeof before === 'string' && /\s$/.test(before) ? ' ' : '';
  const hProperties = { marks: marks.join(','), space };
  return { type: markElement, data: { hName: markElement, hProperties }, children: [] };
};

const breakElement = { type: 'element' as const, tagName: 'br', properties: {}, children: [] };

const sliceOf = (source: string, { position }: Block) =>
  source.slice(position?.start.offset ?? 0, position?.end.offset ?? source.length);

function SafeLink({ href, children }: Pick<ComponentProps<'a'>, 'href' | 'children'>) {
  const address = webAddressOf(href);
  if (!address) return <span>{children}</span>;
  return (
    <a href={address.href} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  );
}

type PictureProps = { src: string | undefined; alt: string | undefined; Label: MarkdownLook['ImageLabel'] };

function Picture({ src, alt, Label }: PictureProps) {
  const address = webAddressOf(src);
  if (!address?.host) return alt ? <span>{alt}</span> : null;
  return (
    <a href={address.href} rel="noopener noreferrer nofollow" target="_blank">
      <Label alt={alt} host={address.host} />
    </a>
  );
}

function webAddressOf(href: string | undefined): URL | null {
  const address = href !== undefined && URL.canParse(href) ? new URL(href) : null;
  return address && /^(https?|mailto):$/.test(address.protocol) ? address : null;
}

function codeIn(children: ReactNode): { code: string; language: string } {
  if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return { code: '', language: '' };
  const { className = '', children: code } = children.props;
  return { code: String(code ?? '').replace(/\n$/, ''), language: /language-([\w+#-]+)/.exec(className)?.[1] ?? '' };
}
