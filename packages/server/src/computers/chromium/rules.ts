/** What a tab may load. */
export type Rules = {
  /** The hosts that it may reach; null: every one. */
  hosts: readonly string[] | null;
  mayReach: (host: string) => boolean;
  /** The page at this address where it is closed; null where it is open. */
  closedPage: (address: URL) => ClosedPage | null;
};

export type ClosedPage = { host: string; path: string };

/** Why something was not loaded. */
export type Refusal =
  | { kind: 'site'; host: string; isWholePage: boolean }
  /** `isWholePage`: not a frame within another page. */
  | { kind: 'page'; page: ClosedPage; isWholePage: boolean };

/** Held by a tab before it is given others. */
export const nothingAtAll: Rules = { hosts: [], mayReach: () => false, closedPage: () => null };
