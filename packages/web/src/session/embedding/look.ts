import { type LookFont, lookColors, type PageLook, type Scheme } from '@vestra/react/bridge';

/** Applies the theme of the host page. Invalid values are ignored. */
export function applyLook({ scheme, colors, font, radius, fonts }: PageLook): void {
  applyScheme(scheme);
  for (const name of lookColors) set(`--${name}`, valid('color', colors[name]));
  const accent = valid('color', colors.accent);
  if (accent && !colors['accent-soft']) set('--accent-soft', `color-mix(in oklab, ${accent} 14%, var(--background))`);
  const primary = valid('color', colors.primary);
  if (primary && !colors['primary-foreground']) set('--primary-foreground', readableOn(primary));
  set('--font', valid('font-family', font));
  set('--panel-radius', valid('border-radius', radius));
  for (const each of fonts) addFont(each);
}

export function applyScheme(scheme: Scheme): void {
  const { dataset } = document.documentElement;
  if (scheme === 'auto') delete dataset.scheme;
  else dataset.scheme = scheme;
}

/** Rejects values that could inject CSS or load from another host. */
function valid(property: string, value: string | null | undefined): string | null {
  if (!value || /[;{}]|url\s*\(|image-set|var\s*\(/i.test(value)) return null;
  return CSS.supports(property, value) ? value : null;
}

/** Black or white, whichever has more contrast. */
function readableOn(color: string): string {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  if (!canvas) return 'white';
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? 'black' : 'white';
}

function set(name: string, value: string | null): void {
  if (value === null) document.documentElement.style.removeProperty(name);
  else document.documentElement.style.setProperty(name, value);
}

const added = new Set<string>();

function addFont({ family, weight, style, data }: LookFont): void {
  const key = [family, weight, style, data.byteLength].join('\n');
  if (added.has(key)) return;
  added.add(key);
  try {
    const face = new FontFace(family, data, { weight, style });
    face.load().then(
      (loaded) => document.fonts.add(loaded),
      () => added.delete(key),
    );
  } catch {
    // Invalid weight or style: the page keeps its font.
  }
}
