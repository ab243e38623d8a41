/** With each further answer that is being written, all of them are read this much later. */
const msPerAnswer = 2.5;
const longestMs = 60;

/**
 * Answers that are written at the same time are read in step, and the less often the more there are: to take each token by
 * itself costs a turn of the loop and all that listens to it, and whoever shows the text joins it anyway. One alone is read
 * as it comes.
 */
let answers = 0;
const waiting = new Set<() => void>();

/** An answer has begun to come; to be called once when it is no longer read. */
export function beginReading(): () => void {
  answers += 1;
  return () => {
    answers -= 1;
  };
}

/** Calls back when what has come is to be read: at once, or with the others. */
export function whenToRead(read: () => void): void {
  const pauseMs = Math.min(longestMs, (answers - 1) * msPerAnswer);
  if (pauseMs <= 0) {
    read();
    return;
  }
  if (waiting.size === 0) setTimeout(readAll, pauseMs);
  waiting.add(read);
}

function readAll(): void {
  const readers = [...waiting];
  waiting.clear();
  for (const read of readers) read();
}
