import { type Look, type LookFont, lookColors, type Scheme, schemes } from './bridge.ts';

/** A font of your page that the session's page is to use too. `src` is fetched by your page, as your page may. */
export type Font = { family: string; src: string; weight?: string; style?: string };

/** What is wanted of the session's page. Left to itself it does as the page around it: one that knows no dark is light. */
export function schemeOf(element: Element): Scheme {
  const asked = schemes.find((each) => each === element.getAttribute('scheme'));
  if (asked && asked !== 'auto') return asked;
  const known = getComputedStyle(element).colorScheme.split(' ');
  if (!known.includes('dark')) return 'light';
  return known.includes('light') ? 'auto' : 'dark';
}

/** What the element's `--vestra-…` variables say, wherever your stylesheet sets them. */
export function readLook(element: Element, fonts: readonly LookFont[]): Look {
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

/** Those that can be had: a chat in another font is better than none. */
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

/** Calls back when what the variables say may have changed: the scheme of the device, or a class of the whole page. */
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
