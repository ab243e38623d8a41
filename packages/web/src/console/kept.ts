/** A browser that keeps nothing, as some do in private windows, is no reason to show nothing. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(`vestra.console.${name}`);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`vestra.console.${name}`);
    else localStorage.setItem(`vestra.console.${name}`, value);
  } catch {
    // Then it is not kept.
  }
}
