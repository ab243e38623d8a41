import { keep, kept } from '../kept.ts';

export type Scheme = 'light' | 'dark' | 'system';

export const currentScheme = (): Scheme => (kept('scheme') as Scheme | null) ?? 'system';

/** `system` follows the device. */
export function applyScheme(scheme: Scheme = currentScheme()): void {
  keep('scheme', scheme === 'system' ? null : scheme);
  if (scheme === 'system') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}
