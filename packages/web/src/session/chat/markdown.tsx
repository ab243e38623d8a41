import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { toHast } from 'mdast-util-to-hast';
import { gfm } from 'micromark-extension-gfm';
import { type ComponentProps, memo, type ReactNode, useDeferredValue } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import remend from 'remend';
import { ExternalIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';
import { CodeBlock } from './code-block.tsx';

type Root = ReturnType<typeof fromMarkdown>;
type Block = Root['children'][number];
type Components = NonNullable<Parameters<typeof toJsxRuntime>[1]['components']>;

/** A reply is text of a model: it links to the web and to mail, and it loads nothing from anywhere. */
const components: Components = {
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => <Table>{children}</Table>,
  // The box of a list of tasks is nothing that can be ticked here.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
  img: ({ src, alt }) => <Picture alt={alt} src={typeof src === 'string' ? src : undefined} />,
};

export default function Markdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  // Words come faster than a slow phone reads them into blocks: it may leave some out on the way.
  const read = useDeferredValue(text);
  const source = isGrowing ? remend(read) : text;
  const root = fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  // A link may be written out in a block of its own, anywhere: then no block can be drawn alone.
  const isOfOneKind = root.children.every(({ type }) => type !== 'definition' && type !== 'footnoteDefinition');
  return (
    <div className="reply" dir="auto">
      {isOfOneKind ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other name than its place, and none moves.
        root.children.map((block, at) => <DrawnBlock block={block} key={at} source={sliceOf(source, block)} />)
      ) : (
        <Drawn root={root} />
      )}
    </div>
  );
}

/** A block that reads as before is drawn as before: of a growing reply it is the last alone that is drawn anew. */
const DrawnBlock = memo(
  ({ block }: { block: Block; source: string }) => <Drawn root={{ type: 'root', children: [block] }} />,
  (before, after) => before.source === after.source,
);

function Drawn({ root }: { root: Root }) {
  // Marks of HTML are no words of Markdown: they are shown as they are written, and never become elements.
  const tree = toHast(root, {
    // Signs in place of words, which would be English.
    footnoteLabel: '—',
    footnoteBackLabel: '↩',
    handlers: { html: (_state, { value }) => (/^<br *\/?>$/i.test(value) ? breakElement : { type: 'text', value }) },
  });
  return toJsxRuntime(tree, { Fragment, jsx, jsxs, components, ignoreInvalidStyle: true });
}

const breakElement = { type: 'element' as const, tagName: 'br', properties: {}, children: [] };

const sliceOf = (source: string, { position }: Block) =>
  source.slice(position?.start.offset ?? 0, position?.end.offset ?? source.length);

/** Wider than a phone it is scrolled on its own, by keyboard too. */
function Table({ children }: { children?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard cannot scroll a wide table.
    <div className="my-4 overflow-x-auto rounded-xl border" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

function SafeLink({ href, children }: Pick<ComponentProps<'a'>, 'href' | 'children'>) {
  const address = webAddressOf(href);
  if (!address) return <span>{children}</span>;
  return (
    <a href={address.href} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  );
}

/** Loading a picture tells its host who reads: it is a link until the person opens it. */
function Picture({ src, alt }: { src: string | undefined; alt: string | undefined }) {
  const words = useWords();
  const address = webAddressOf(src);
  if (!address?.host) return alt ? <span>{alt}</span> : null;
  return (
    <a href={address.href} rel="noopener noreferrer nofollow" target="_blank">
      {alt || words.imageOn(address.host)} <ExternalIcon className="inline size-3.5" />
    </a>
  );
}

function webAddressOf(href: string | undefined): URL | null {
  const address = href !== undefined && URL.canParse(href) ? new URL(href) : null;
  return address && /^(https?|mailto):$/.test(address.protocol) ? address : null;
}
