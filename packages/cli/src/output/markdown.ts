import type { Paint } from '../terminal.ts';

type Format = Parameters<Paint>[0];

export type MarkdownPainter = {
  /** Returns the styled next piece; possible marks are held back. */
  write: (piece: string) => string;
  /** Returns the held-back text. */
  end: () => string;
};

/**
 * Styles streamed Markdown for a terminal and never takes back output. Text that is not a mark stays unchanged, and a
 * style ends with its line.
 */
export function markdownPainter(paint: Paint): MarkdownPainter {
  let held = '';
  let isLineStart = true;
  let isFenced = false;
  let before = '\n';
  const on = { bold: false, italic: false, cyan: false, underline: false };

  function read(text: string, isLast: boolean): string {
    let rest = text;
    let shown = '';
    while (rest !== '') {
      const taken = isLineStart ? lineStart(rest, isLast) : inline(rest, isLast);
      if (taken === null) break;
      shown += taken.shown;
      before = rest.charAt(taken.length - 1);
      rest = rest.slice(taken.length);
    }
    held = rest;
    return shown;
  }

  type Taken = { length: number; shown: string } | null;

  function lineStart(rest: string, isLast: boolean): Taken {
    // Too short to distinguish a line mark from the first word.
    if (!isLast && /^ *(#{0,6}|[-*+]|`{1,2}|~{1,2})$/.test(rest)) return null;
    const fence = /^ {0,3}(?:`{3,}|~{3,})[^\n]*(\n?)/.exec(rest);
    if (fence) {
      if (fence[1] === '' && !isLast) return null;
      isFenced = !isFenced;
      return { length: fence[0].length, shown: '' };
    }
    isLineStart = false;
    if (isFenced) return { length: 0, shown: '' };
    const heading = /^#{1,6} /.exec(rest);
    if (heading) {
      on.underline = true;
      return { length: heading[0].length, shown: '' };
    }
    const bullet = /^( *)[-*+] /.exec(rest);
    if (bullet) return { length: bullet[0].length, shown: `${bullet[1]}• ` };
    return { length: 0, shown: '' };
  }

  function inline(rest: string, isLast: boolean): Taken {
    if (rest.startsWith('\n')) {
      isLineStart = true;
      Object.assign(on, { bold: false, italic: false, cyan: false, underline: false });
      return { length: 1, shown: '\n' };
    }
    const [words = ''] = (isFenced ? /^[^\n]+/ : on.cyan ? /^[^`\n]+/ : /^[^\\`*_\n]+/).exec(rest) ?? [];
    if (words !== '') return { length: words.length, shown: styled(words) };
    const [run = ''] = /^(?:\\.?|`+|\*+|_+)/.exec(rest) ?? [];
    if (run.length === rest.length && !isLast) return null;
    return { length: run.length, shown: mark(run, rest.charAt(run.length)) };
  }

  function mark(run: string, next: string): string {
    if (run.startsWith('\\')) return styled(/^\\[^\w\s]$/.test(run) ? run.slice(1) : run);
    if (run.startsWith('`')) {
      on.cyan = !on.cyan;
      return '';
    }
    const style =
      run.length === 1 ? (['italic'] as const) : run.length === 2 ? (['bold'] as const) : (['bold', 'italic'] as const);
    const isOpen = style.every((each) => on[each]);
    // `2 * 3` and `snake_case` contain no emphasis.
    const isWord = run.startsWith('_') && (isOpen ? /\w/.test(next) : /\w/.test(before));
    const isMark = run.length <= 3 && !isWord && (isOpen ? /\S/.test(before) : /\S/.test(next));
    if (!isMark) return styled(run);
    for (const each of style) on[each] = !isOpen;
    return '';
  }

  function styled(text: string): string {
    const formats = isFenced ? ['cyan'] : Object.keys(on).filter((each) => on[each as keyof typeof on]);
    return formats.length === 0 ? text : paint(formats as Format, text);
  }

  return { write: (piece) => read(held + piece, false), end: () => read(held, true) };
}
