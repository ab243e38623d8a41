/** A row as this process last read it. Every change of the row changes its version. */
export type CachedRow<Row> = { row: Row; version: string };

/**
 * Recently read rows. Entries are not invalidated when a row changes, so a decision based on one is safe only if the
 * write that follows checks the version.
 */
export type RowCache<Row> = {
  get: (key: string) => CachedRow<Row> | undefined;
  set: (key: string, seen: CachedRow<Row>) => void;
  forget: (key: string) => void;
  clear: () => void;
};

export function createRowCache<Row>({ most }: { most: number }): RowCache<Row> {
  const byKey = new Map<string, CachedRow<Row>>();
  return {
    get: (key) => byKey.get(key),
    set(key, seen) {
      // Reinsert, so that the first entry is the one that was set longest ago.
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
