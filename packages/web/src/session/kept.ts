const memory = new Map<string, string>();

/** Storage of this tab. If the browser blocks it in frames, values last until the next reload. */
export const kept = {
  read(name: string): string | null {
    try {
      return sessionStorage.getItem(keyOf(name));
    } catch {
      return memory.get(name) ?? null;
    }
  },
  write(name: string, value: string | null): void {
    try {
      if (value === null) sessionStorage.removeItem(keyOf(name));
      else sessionStorage.setItem(keyOf(name), value);
    } catch {
      if (value === null) memory.delete(name);
      else memory.set(name, value);
    }
  },
};

const keyOf = (name: string) => `vestra ${name}`;
