import type { ComponentProps, ReactNode } from 'react';
import { type Components, Streamdown } from 'streamdown';
import { ExternalIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';
import { CodeBlock } from './code-block.tsx';

/** A reply is text of a model: it links to the web and to mail, and it loads nothing from anywhere. */
const components: Components = {
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => <Table>{children}</Table>,
  // The box of a list of tasks is nothing that can be ticked here.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
  img: ({ src, alt }) => <Picture alt={alt} src={typeof src === 'string' ? src : undefined} />,
};

const noLinkDialog = { enabled: false };

export default function Markdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  return (
    <Streamdown
      className="reply"
      components={components}
      controls={false}
      dir="auto"
      isAnimating={isGrowing}
      linkSafety={noLinkDialog}
      mode={isGrowing ? 'streaming' : 'static'}
    >
      {text}
    </Streamdown>
  );
}

/** Wider than a phone it is scrolled on its own, by keyboard too. */
function Table({ children }: { children: ReactNode }) {
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
