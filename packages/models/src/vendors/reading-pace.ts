/** Each further parallel answer delays the reads of all by this much. */
const msPerAnswer = 4;
const longestMs = 100;

/**
 * Answers that are streamed in parallel are read together, and less often the more there are. Handling each token
 * separately costs a turn of the event loop, and its readers join the text anyway. A single answer is read as it
 * arrives.
 */
let answers = 0;
const waiting = new Set<() => void>();

/** Counts an answer as started. The returned function must be called once, when it is no longer read. */
export function beginReading(): () => void {
  answers += 1;
  return () => {
    answers -= 1;
  };
}

/** Calls back when received data should be read: at once, or together with the others. */
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
