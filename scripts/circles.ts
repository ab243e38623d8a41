/** Returns the groups of names that refer to each other in a cycle, each once and in order. */
export function circlesIn(names: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const circles: string[][] = [];
  const reached = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];

  function visit(each: string): number {
    const order = reached.size;
    reached.set(each, order);
    lowest.set(each, order);
    open.push(each);
    for (const next of names.get(each) ?? []) {
      const low = reached.has(next) ? (open.includes(next) ? reached.get(next) : undefined) : visit(next);
      if (low !== undefined) lowest.set(each, Math.min(lowest.get(each) as number, low));
    }
    // Nothing from here leads further back, so the nodes since then form a group.
    if (lowest.get(each) === order) {
      const group = open.splice(open.indexOf(each));
      if (group.length > 1) circles.push(group.sort());
    }
    return lowest.get(each) as number;
  }

  for (const each of names.keys()) if (!reached.has(each)) visit(each);
  return circles.sort((one, other) => ((one[0] as string) < (other[0] as string) ? -1 : 1));
}
