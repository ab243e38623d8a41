import { Suspense, useEffect } from 'react';
import { lazyPart } from '../parts/lazy-part.tsx';
import { closePalette, openPalette, usePaletteOpen } from './palette-state.ts';

const PaletteDialog = lazyPart(() => import('./palette-dialog.tsx'));

/** ⌘K or Ctrl K, from anywhere. What it offers is loaded when it is first opened. */
export function Palette() {
  const isOpen = usePaletteOpen();
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey) return;
      event.preventDefault();
      openPalette();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  if (!isOpen) return null;
  return (
    // It stands above everything by itself; only what is shown in its place needs a place.
    <div className="fixed inset-x-4 top-4 z-60">
      <Suspense>
        <PaletteDialog onClose={closePalette} />
      </Suspense>
    </div>
  );
}
