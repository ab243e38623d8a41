import type { Terminal } from '../terminal.ts';

export type Spinner = {
  /** Shows that something is running, until `hide`. */
  show: (words: string) => void;
  /** Removes the line, so that something else can be printed. */
  hide: () => void;
};

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const clearLine = '\r\u001b[K';

/** An animated line on standard error while nothing else is printed; silent outside a terminal. */
export function spinnerAt({ isInteractive, err, paintError }: Terminal): Spinner {
  if (!isInteractive) return { show: () => {}, hide: () => {} };
  let timer: NodeJS.Timeout | null = null;
  return {
    show(words) {
      if (timer) clearInterval(timer);
      const startedAt = performance.now();
      let frame = 0;
      const draw = () => {
        const seconds = Math.floor((performance.now() - startedAt) / 1000);
        const time = seconds > 0 ? ` ${seconds} s` : '';
        err(`${clearLine}${paintError('dim', `${frames[frame++ % frames.length]} ${words}${time}`)}`);
      };
      draw();
      timer = setInterval(draw, 100).unref();
    },
    hide() {
      if (!timer) return;
      clearInterval(timer);
      timer = null;
      err(clearLine);
    },
  };
}
