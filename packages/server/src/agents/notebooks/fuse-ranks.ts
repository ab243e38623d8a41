/** How little the first places count above those that follow; the usual value of reciprocal rank fusion. */
const smoothing = 60;

/**
 * One order out of several, by reciprocal rank: the scores of words and of vectors are not comparable, their ranks are.
 * Among equals, the order of the first list that has them.
 */
export function fuseRanks(rankings: readonly (readonly string[])[]): string[] {
  const scores = new Map<string, number>();
  for (const keys of rankings) {
    keys.forEach((key, rank) => {
      scores.set(key, (scores.get(key) ?? 0) + 1 / (smoothing + rank + 1));
    });
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([key]) => key);
}
