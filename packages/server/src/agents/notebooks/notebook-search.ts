import type { createPassageMeaning } from './passage-meaning.ts';
import type { SearchResult } from './search.ts';
import type { NotebookReader } from './store.ts';

type NotebookSearch = (asked: NotebookReader & { query: string; limit: number }) => Promise<SearchResult>;

/** Loads the code of the search with the first one: a start needs none of it. */
export function createNotebookSearch(dependencies: Parameters<typeof createPassageMeaning>[0]): NotebookSearch {
  let opened: Promise<NotebookSearch> | undefined;
  const open = async (): Promise<NotebookSearch> => {
    const [{ searchNotebooks }, meanings] = await Promise.all([import('./search.ts'), import('./passage-meaning.ts')]);
    const meaning = meanings.createPassageMeaning(dependencies);
    return (asked) => searchNotebooks(dependencies.db, asked, meaning);
  };
  return async (asked) => {
    opened ??= open();
    return (await opened)(asked);
  };
}
