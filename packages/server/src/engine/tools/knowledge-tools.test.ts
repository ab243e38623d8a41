import { describe, expect, it } from 'vitest';
import { createPassageMarks } from './knowledge-tools.ts';

const place = (documentId: string, position: number | null, from?: number) => ({
  notebookId: 'nb',
  documentId,
  position,
  ...(from !== undefined && { from }),
});
const marksOf = (passages: { mark: number }[]) => passages.map(({ mark }) => mark);

describe('the marks of passages', () => {
  it('continue after those of earlier calls, and a passage keeps its mark [NB-270]', async () => {
    const marks = createPassageMarks(async () => [
      { ...place('doc_a', 0), mark: 1 },
      { ...place('doc_b', 2), mark: 4 },
    ]);
    expect(marksOf(await marks.of([place('doc_b', 2), place('doc_b', 3), place('doc_c', 0)]))).toEqual([4, 5, 6]);
    expect(marksOf(await marks.of([place('doc_c', 0), place('doc_a', 0), place('doc_d', 0)]))).toEqual([6, 1, 7]);
  });

  it('differ between searches that run at once [NB-270]', async () => {
    let reads = 0;
    const marks = createPassageMarks(async () => {
      reads += 1;
      return [];
    });
    const found = await Promise.all([marks.of([place('doc_a', 0)]), marks.of([place('doc_b', 0)])]);
    expect(found.map(marksOf)).toEqual([[1], [2]]);
    expect(reads).toBe(1);
  });

  it('tell the parts of a document that was read from each other and from its passages [NB-270]', async () => {
    const marks = createPassageMarks(async () => []);
    const found = await marks.of([place('doc_a', 0), place('doc_a', null, 0), place('doc_a', null, 30_000)]);
    expect(marksOf(found)).toEqual([1, 2, 3]);
  });
});
