import { useSyncExternalStore } from 'react';

let isOpen = false;
const listeners = new Set<() => void>();

function become(next: boolean): void {
  isOpen = next;
  for (const listener of listeners) listener();
}

export const openPalette = () => become(true);
export const closePalette = () => become(false);

export const usePaletteOpen = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => isOpen,
  );
