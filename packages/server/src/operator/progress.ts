/** The progress of a long command: one line that is overwritten on a terminal, and nothing elsewhere. */
export type Progress = {
  show: (line: string) => void;
  end: () => void;
};

const redrawEveryMs = 100;

export function createProgress(stream: NodeJS.WriteStream): Progress {
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(line) {
      if (!stream.isTTY || performance.now() - shownAt < redrawEveryMs) return;
      shownAt = performance.now();
      stream.write(`\r\u001b[K${line.slice(0, (stream.columns || 80) - 1)}`);
    },
    end() {
      if (stream.isTTY) stream.write('\r\u001b[K');
    },
  };
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}
