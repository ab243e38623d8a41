/** One upload or deletion before the file is applied. */
export type Change =
  | { kind: 'skill'; action: 'created' | 'replaced'; path: string; name: string }
  | { kind: 'notebook' | 'file'; action: 'created'; path: string; name: string }
  | {
      kind: 'document';
      action: 'created' | 'replaced' | 'deleted';
      /** Null if the file is gone. */
      path: string | null;
      name: string;
      notebook: string;
    };

/** A step of the plan. */
export type ApplyStep = { change: Change; run: (signal: AbortSignal | undefined) => Promise<void> };

/** A resolved list of the file: its entries, and for each its source in the file. */
export type Resolved = { entries: () => unknown[]; sources: readonly string[] };

/** The entries of `skills` or `knowledge` with the service's names for them. */
export function entriesOf(written: unknown, key: string): { at: string; value: unknown }[] {
  if (typeof written === 'string') return [{ at: key, value: written }];
  return Array.isArray(written) ? written.map((value, index) => ({ at: `${key}.${index}`, value })) : [];
}
