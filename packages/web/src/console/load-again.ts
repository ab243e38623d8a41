/** A document is not loaded anew more often than this, whatever keeps its scripts from coming. */
const leastAgeMs = 2000;

/**
 * Loads the document anew as soon as the server answers. Browsers remember a script that did not come for as long as the
 * document is open, with everything that imports it: nothing less brings it back.
 */
export async function loadAgainWhenAnswered(signal?: AbortSignal): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, Math.max(500, leastAgeMs - performance.now())));
  while (!(await isAnswering()));
  if (!signal?.aborted) location.reload();
}

const isAnswering = (): Promise<boolean> =>
  fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
