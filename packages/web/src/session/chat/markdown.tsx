import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { toHast } from 'mdast-util-to-hast';
import { gfm } from 'micromark-extension-gfm';
import { type ComponentProps, isValidElement, memo, type ReactNode, useDeferredValue, useState } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import remend from 'remend';
import { ExternalIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';

type Root = ReturnType<typeof fromMarkdown>;
type Block = Root['children'][number];
type Components = NonNullable<Parameters<typeof toJsxRuntime>[1]['components']>;

/** Model text may link to web and mail addresses, but must not load anything. */
const components: Components = {
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => <Table>{children}</Table>,
  // Task list checkboxes are not interactive.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
  img: ({ src, alt }) => <Picture alt={alt} src={typeof src === 'string' ? src : undefined} />,
};

export default function Markdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  // Deferred, so that slow phones can skip intermediate states.
  const read = useDeferredValue(text);
  const source = isGrowing ? remend(read) : text;
  const root = fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  // With link definitions, blocks depend on each other and cannot be rendered separately.
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

/** Memoized by source, so that only the last block of a growing reply is rendered. */
const DrawnBlock = memo(
  ({ block }: { block: Block; source: string }) => <Drawn root={{ type: 'root', children: [block] }} />,
  (before, after) => before.source === after.source,
);

function Drawn({ root }: { root: Root }) {
  // HTML in replies is shown as text and never becomes elements.
  const tree = toHast(root, {
    // Symbols instead of the English default labels.
    footnoteLabel: '—',
    footnoteBackLabel: '↩',
    handlers: { html: (_state, { value }) => (/^<br *\/?>$/i.test(value) ? breakElement : { type: 'text', value }) },
  });
  return toJsxRuntime(tree, { Fragment, jsx, jsxs, components, ignoreInvalidStyle: true });
}

const breakElement = { type: 'element' as const, tagName: 'br', properties: {}, children: [] };

const sliceOf = (source: string, { position }: Block) =>
  source.slice(position?.start.offset ?? 0, position?.end.offset ?? source.length);

/** Wide tables scroll horizontally. */
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

/** Loading an image would reveal the reader to its host, so it is a link. */
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

/** A code block with its language and a copy button. */
function CodeBlock({ children }: { children: ReactNode }) {
  const words = useWords();
  const [isCopied, setCopied] = useState(false);
  const { code, language } = partsOf(children);
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div className="my-4 overflow-hidden rounded-xl border bg-card" dir="ltr">
      <div className="flex items-center justify-between border-b bg-muted ps-4 pe-1.5 text-sm text-muted-foreground">
        <span>{language}</span>
        {/* Without https there is no clipboard. */}
        {navigator.clipboard && (
          <button
            className="pressable rounded-lg px-2.5 py-2 hover:text-foreground"
            onClick={() => void copy()}
            type="button"
          >
            {isCopied ? words.copied : words.copyCode}
          </button>
        )}
      </div>
      <pre
        className="overflow-x-auto px-4 py-3 text-sm leading-relaxed outline-offset-[-2px]"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, a keyboard cannot scroll long lines.
        tabIndex={0}
      >
        <code>{code}</code>
      </pre>
    </div>
  );
}

function partsOf(children: ReactNode): { code: string; language: string } {
  if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return { code: '', language: '' };
  const { className = '', children: code } = children.props;
  return { code: String(code ?? '').replace(/\n$/, ''), language: /language-([\w+#-]+)/.exec(className)?.[1] ?? '' };
}
