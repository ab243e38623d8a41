/** The names that a mistyped one was probably meant to be, the likeliest first. */
export function nearest(typed: string, names: readonly string[]): string[] {
  const longest = 3;
  return names
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ name, distance }) => distance <= longest && distance <= Math.ceil(name.length * 0.4))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** How many letters must be put in, taken out, changed or swapped with their neighbour. */
export function distanceOf(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  const cell = (row: number, column: number) => (rows[row] as number[])[column] as number;
  for (let row = 1; row <= one.length; row++) {
    rows[row] = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const ways = [cell(row - 1, column) + 1, cell(row, column - 1) + 1, cell(row - 1, column - 1) + (isSame ? 0 : 1)];
      if (isSwapped) ways.push(cell(row - 2, column - 2) + 1);
      (rows[row] as number[])[column] = Math.min(...ways);
    }
  }
  return cell(one.length, other.length);
}
