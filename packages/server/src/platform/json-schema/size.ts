/** What is too much about a value, or null. It stops at the limit, so that a value without end costs no more. */
export function excessOf(value: unknown, { depth, bytes }: { depth: number; bytes: number }): 'depth' | 'bytes' | null {
  let left = bytes;

  function walk(inner: unknown, level: number): 'depth' | 'bytes' | null {
    left -= ownBytes(inner);
    if (left < 0) return 'bytes';
    if (typeof inner !== 'object' || inner === null) return null;
    if (level === depth) return 'depth';
    if (Array.isArray(inner)) {
      for (const each of inner) {
        const excess = walk(each, level + 1);
        if (excess !== null) return excess;
      }
      return null;
    }
    for (const key in inner) {
      if (!Object.hasOwn(inner, key)) continue;
      left -= ownBytes(key) + 1;
      const excess = walk((inner as Record<string, unknown>)[key], level + 1);
      if (excess !== null) return excess;
    }
    return null;
  }

  return walk(value, 0);
}

/** About what it takes as JSON: brackets, and the comma after it. */
function ownBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 3;
  if (typeof value === 'object' && value !== null) return 3;
  return String(value).length + 1;
}
