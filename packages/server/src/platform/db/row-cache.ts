/** A row as this process saw it last. Its version is another as soon as anybody has changed it. */
export type SeenRow<Row> = { row: Row; version: string };

/**
 * Rows that were seen lately, so that they need not be read again. Nobody is told when one changes: whoever decides by
 * one lets the write that follows check its version.
 */
export type RowCache<Row> = {
  get: (key: string) => SeenRow<Row> | undefined;
  set: (key: string, seen: SeenRow<Row>) => void;
  forget: (key: string) => void;
  clear: () => void;
};

export function createRowCache<Row>({ most }: { most: number }): RowCache<Row> {
  const byKey = new Map<string, SeenRow<Row>>();
  return {
    get: (key) => byKey.get(key),
    set(key, seen) {
      // What was set last stands last, so the first is the one that was not set for the longest time.
      byKey.delete(key);
      byKey.set(key, seen);
      if (byKey.size <= most) return;
      const [oldest] = byKey.keys();
      if (oldest !== undefined) byKey.delete(oldest);
    },
    forget: (key) => void byKey.delete(key),
    clear: () => byKey.clear(),
  };
}
