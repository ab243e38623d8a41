import { lazy, Suspense, useEffect } from 'react';
import { closePalette, openPalette, usePaletteOpen } from './palette-state.ts';

const PaletteDialog = lazy(() => import('./palette-dialog.tsx'));

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
    <Suspense>
      <PaletteDialog onClose={closePalette} />
    </Suspense>
  );
}
