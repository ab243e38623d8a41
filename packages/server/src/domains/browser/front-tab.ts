import type { OpenTab } from './desks.ts';

/** The tab in front, else the one that was used last. */
export function frontTab(tabs: readonly OpenTab[]): OpenTab | undefined {
  const [first] = [...tabs].sort(
    (one, other) => Number(isInFront(other)) - Number(isInFront(one)) || other.lastUsed - one.lastUsed,
  );
  return first;
}

export const isInFront = ({ use }: OpenTab): boolean => use.kind === 'fetch' && use.isFront;

export const isPublic = ({ use }: OpenTab): boolean => use.kind === 'agent' || !use.isPrivate;
