import type { CitablePassage } from '@vestra/agent/step';

type Place = Omit<CitablePassage, 'mark'>;

/**
 * The marks of the passages that a run shows to its model. A mark keeps its passage for the whole conversation, because
 * later replies read earlier results again. `readKnown` returns the passages of earlier calls, and is called once.
 */
export function createPassageMarks(readKnown: () => Promise<readonly CitablePassage[]>) {
  let known: Promise<Map<string, number>> | null = null;

  const read = async () => new Map((await readKnown()).map((passage) => [nameOf(passage), passage.mark]));

  return {
    /** The mark of each place, in the given order. Calls that run at once get different marks. */
    async of(places: readonly Place[]): Promise<CitablePassage[]> {
      known ??= read();
      const marks = await known;
      let last = Math.max(0, ...marks.values());
      return places.map((place) => {
        const name = nameOf(place);
        const mark = marks.get(name) ?? ++last;
        marks.set(name, mark);
        return { ...place, mark };
      });
    },
  };
}

export type PassageMarks = ReturnType<typeof createPassageMarks>;

const nameOf = ({ documentId, position, from = 0 }: Place) => `${documentId} ${position ?? `from ${from}`}`;
