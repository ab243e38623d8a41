/** A word piece with how likely it is, as its logarithm. Its place in the list is its id. */
export type Vocabulary = readonly (readonly [piece: string, score: number])[];

type Branch = { id: number; next: Map<string, Branch> };

const unknown = 0;
/** The first ids are marks, not pieces. */
const marks = 6;

/**
 * The ids of a text's most likely pieces, as the vocabulary's own tokenizer gives them, which takes the square of the
 * text's length. Whatever it does otherwise would give other vectors than those that are stored.
 */
export function createWordPieces(vocabulary: Vocabulary): (text: string) => number[] {
  const root: Branch = { id: unknown, next: new Map() };
  for (const [id, [piece]] of vocabulary.entries()) if (id >= marks) plant(root, piece, id);

  return (text) => {
    const signs = [...prepared(text)];
    const best = new Float64Array(signs.length + 1);
    const last = new Int32Array(signs.length + 1);
    const offer = (end: number, id: number, score: number) => {
      if (best[end] !== 0 && score < (best[end] as number)) return;
      best[end] = score;
      last[end] = id;
    };
    for (let from = 0; from < signs.length; from++) {
      let isKnown = false;
      let branch: Branch | undefined = root;
      for (let at = from; at < signs.length && branch; at++) {
        branch = branch.next.get(signs[at] as string);
        if (!branch || branch.id === unknown) continue;
        isKnown = true;
        offer(at + 1, branch.id, (best[from] as number) + (vocabulary[branch.id]?.[1] as number));
      }
      if (!isKnown) offer(from + 1, unknown, best[from] as number);
    }
    return readBack(vocabulary, last);
  };
}

function plant(root: Branch, piece: string, id: number): void {
  let branch = root;
  for (const sign of piece) {
    const next = branch.next.get(sign) ?? { id: unknown, next: new Map() };
    branch.next.set(sign, next);
    branch = next;
  }
  branch.id = id;
}

function prepared(text: string): string {
  const normal = text.normalize('NFKC');
  return normal === '' ? '' : `▁${normal.replaceAll(' ', '▁')}`;
}

/** From the end to the beginning; unknown signs in a row are one. */
function readBack(vocabulary: Vocabulary, last: Int32Array): number[] {
  const ids: number[] = [];
  for (let at = last.length - 1; at > 0; ) {
    const id = last[at] as number;
    if (id !== unknown || ids.at(-1) !== unknown) ids.push(id);
    at -= vocabulary[id]?.[0].length as number;
  }
  return ids.reverse();
}
