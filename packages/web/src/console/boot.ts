import { loadAgainWhenAnswered } from './load-again.ts';

/** Small, so that hardly anything can go wrong before it is there to see to the rest. */
void import('./main.tsx').then(
  () => {
    const sheet = document.querySelector<HTMLLinkElement>('link[rel=stylesheet]');
    if (sheet?.sheet === null) return loadAgainWhenAnswered();
    return undefined;
  },
  () => loadAgainWhenAnswered(),
);
