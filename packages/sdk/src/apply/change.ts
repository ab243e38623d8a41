/** One thing that is uploaded or taken away before the file is applied. */
export type Change =
  | { kind: 'skill'; action: 'created' | 'replaced'; path: string; name: string }
  | { kind: 'notebook'; action: 'created'; path: string; name: string }
  | {
      kind: 'document';
      /** `compared`: only the service can tell whether the text of this PDF, Office or HTML file has changed. */
      action: 'created' | 'replaced' | 'deleted' | 'compared';
      /** Null where the file is gone. */
      path: string | null;
      name: string;
      notebook: string;
    };

/** A step of the plan; it answers the change that came of it, or null where there was none after all. */
export type Step = { change: Change; run: (signal: AbortSignal | undefined) => Promise<Change | null> };

/** What a list of the file becomes: its entries, and for each the entry of the file that it came from. */
export type Resolved = { entries: () => unknown[]; sources: readonly string[] };

/** The entries of `skills` or `knowledge` with the names that the service has for them. */
export function entriesOf(written: unknown, key: string): { at: string; value: unknown }[] {
  if (typeof written === 'string') return [{ at: key, value: written }];
  return Array.isArray(written) ? written.map((value, index) => ({ at: `${key}.${index}`, value })) : [];
}
