/** Storage may be unavailable in private windows. The console must still work. */
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
    // The value is not stored.
  }
}
