import { plainWords } from '../../markdown/plain-words.ts';

/** Its parser comes with that of `Markdown`. */
export default function MarkdownLine({ text }: { text: string }) {
  return <>{plainWords(text)}</>;
}
