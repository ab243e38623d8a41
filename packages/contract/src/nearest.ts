/** The maximum distance between a name and its suggestion. */
const furthest = 3;

/** The names that a mistyped one was probably meant to be, most likely first. */
export function nearest(typed: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, distance: distanceOf(typed, name, furthest) }))
    .filter(({ name, distance }) => distance <= furthest && distance <= Math.ceil(name.length * 0.4))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/**
 * The number of letters to insert, delete, change or swap. Names whose lengths differ by more than `most` are not
 * compared, because a typed name may be very long.
 */
export function distanceOf(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const changed = (last[column - 1] as number) + (isSame ? 0 : 1);
      const least = Math.min((last[column] as number) + 1, (current[column - 1] as number) + 1, changed);
      current[column] = isSwapped ? Math.min(least, (beforeLast[column - 2] as number) + 1) : least;
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] as number;
}
