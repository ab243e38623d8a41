export type DiffLine = { sign: ' ' | '-' | '+' | '…'; text: string };

/** Unchanged lines shown before and after each change. */
const context = 2;

/** More comparisons than this take noticeable time: the texts are then shown whole. */
const mostComparisons = 4_000_000;

/** The lines of two texts with the fewest changes, without unchanged lines far from a change. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  if (old.length * now.length > mostComparisons) return [...signed('-', old), ...signed('+', now)];
  return shortened(alignedLines(old, now));
}

const signed = (sign: DiffLine['sign'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign, text }));

/** Follows the longest common sequence. `common[i][j]` is its length from line i of the old and j of the new text. */
function alignedLines(old: readonly string[], now: readonly string[]): DiffLine[] {
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    const row = common[i] as Uint32Array;
    for (let j = now.length - 1; j >= 0; j--) {
      row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ sign: ' ', text: old[i] as string });
      i++;
      j++;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: old[i++] as string });
    } else {
      lines.push({ sign: '+', text: now[j++] as string });
    }
  }
  return lines;
}

function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== ' ');
  return lines.flatMap((line, at): DiffLine[] => {
    if (isNear(at)) return [line];
    return at === 0 || isNear(at - 1) ? [{ sign: '…', text: '' }] : [];
  });
}
