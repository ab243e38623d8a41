import { type LookFont, lookColors, type PageLook, type Scheme, schemes } from './bridge.ts';

/** A font of your page for the session page. Your page fetches `src`. */
export type Font = { family: string; src: string; weight?: string; style?: string };

/** The colour scheme of the session page. By default it follows the host page, which is light unless it declares dark. */
export function schemeOf(element: Element): Scheme {
  const asked = schemes.find((each) => each === element.getAttribute('scheme'));
  if (asked && asked !== 'auto') return asked;
  const known = getComputedStyle(element).colorScheme.split(' ');
  if (!known.includes('dark')) return 'light';
  return known.includes('light') ? 'auto' : 'dark';
}

/** Reads the computed `--vestra-…` variables of the element. */
export function readLook(element: Element, fonts: readonly LookFont[]): PageLook {
  const style = getComputedStyle(element);
  const variable = (name: string) => style.getPropertyValue(`--vestra-${name}`).trim() || null;
  const colors = Object.fromEntries(
    lookColors.flatMap((name) => {
      const value = variable(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  return { scheme: schemeOf(element), colors, font: variable('font'), radius: variable('radius'), fonts };
}

/** Skips fonts that fail to load. */
export async function loadFonts(fonts: readonly Font[]): Promise<LookFont[]> {
  const loaded = await Promise.all(
    fonts.map(async ({ family, src, weight = 'normal', style = 'normal' }) => {
      try {
        const response = await fetch(new URL(src, document.baseURI));
        return response.ok ? [{ family, weight, style, data: await response.arrayBuffer() }] : [];
      } catch {
        return [];
      }
    }),
  );
  return loaded.flat();
}

/** Calls back when the variables may have changed: by the device's scheme or an attribute of the document. */
export function watchLook(changed: () => void): () => void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', changed);
  const observer = new MutationObserver(changed);
  for (const each of [document.documentElement, document.body]) observer.observe(each, { attributes: true });
  return () => {
    dark.removeEventListener('change', changed);
    observer.disconnect();
  };
}
