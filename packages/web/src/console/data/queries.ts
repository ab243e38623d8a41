import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { isPassing } from '@vestra/sdk/errors';
import { useMemo } from 'react';
import { callApi, type Place, usePlace } from './api.ts';
import { rememberChange } from './last-change.ts';
import { type Answer, type Fields, familyOf, type ItemOf, type ListName, type Request, type RowName } from './rows.ts';

/** Whoever is asked to wait longer is told so. */
const longestWaitMs = 10_000;
const retryAfterOf = (error: unknown): number => (isPassing(error) ? (error.retryAfterMs ?? 0) : 0);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A server that restarts is back within seconds: the page waits for it rather than telling of it.
      retry: (failures, error) => isPassing(error) && failures < 6 && (error.retryAfterMs ?? 0) <= longestWaitMs,
      retryDelay: (failures, error) => Math.max(retryAfterOf(error), Math.min(500 * 2 ** failures, 2000)),
      // A browser that believes itself offline may well reach a server on its own machine or network.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 10_000,
      refetchOnWindowFocus: (query) => pagesOf(query.state.data) <= 1,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** The query client asks again by itself. A line that is dead without saying so is not waited for. */
const aRead = { retries: 0, timeoutMs: 30_000 };

type Key = readonly [org: string, mode: string, row: RowName, fields: unknown];
const keyOf = ({ org, mode }: Place, row: RowName, fields: unknown): Key => [org, mode, row, fields];

/** What one call answers, kept for whoever else asks the same. */
export function useOne<Name extends RowName>(row: Name, fields: Fields<Name>, options: { enabled?: boolean } = {}) {
  const place = usePlace();
  const query = useQuery({
    queryKey: keyOf(place, row, fields),
    queryFn: ({ signal }) => callApi(place, row, fields, { signal, ...aRead }),
    placeholderData: keepPreviousData,
    ...options,
  });
  const request: Request = { row, fields: fields as Request['fields'] };
  return { ...query, data: query.data as Answer<Name> | undefined, request };
}

type Page<Name extends ListName> = { data: ItemOf<Name>[]; next_cursor: string | null };

const noRows: never[] = [];
/** The most that a page of the API holds. */
const mostRows = 100;

/** A list, page after page as `more` is called. */
export function useList<Name extends ListName>(
  row: Name,
  fields: Fields<Name>,
  { limit = 50, enabled = true }: { limit?: number; enabled?: boolean } = {},
) {
  const place = usePlace();
  const query = useInfiniteQuery({
    queryKey: keyOf(place, row, fields),
    queryFn: async ({ pageParam, signal }) => {
      // Whoever scrolls is on the way through all of it, and is asked for nothing larger than the API gives.
      const asked = {
        ...fields,
        limit,
        ...(pageParam !== null && { cursor: pageParam, limit: mostRows }),
      } as Fields<Name>;
      return (await callApi(place, row, asked, { signal, ...aRead })) as unknown as Page<Name>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    enabled,
  });
  const pages = query.data?.pages;
  // One copy of arrays, and no call for each row: this is done again for every page that comes.
  const rows = useMemo(() => (noRows as ItemOf<Name>[]).concat(...(pages?.map(({ data }) => data) ?? [])), [pages]);
  const request: Request = { row, fields: fields as Request['fields'] };
  return {
    rows,
    request,
    error: query.error,
    isLoading: query.isLoading,
    isFetchingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    more: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
    refetch: () => void query.refetch(),
  };
}

/** A change. What it touches is asked for anew: the rows of its own family, and of those named. */
export function useChange<Name extends RowName>(
  row: Name,
  { touches = [], onDone }: { touches?: readonly string[]; onDone?: (answer: Answer<Name>) => void } = {},
) {
  const place = usePlace();
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: (fields: Fields<Name>) => {
      rememberChange(place, { row, fields: fields as Request['fields'] });
      return callApi(place, row, fields);
    },
    onSuccess: async (answer) => {
      void refresh(client, place, [familyOf(row), ...touches]);
      onDone?.(answer);
    },
  });
  return {
    run: (fields: Fields<Name>) => mutation.mutate(fields),
    /** For whoever goes on after it; it throws what the change failed with. */
    runNow: (fields: Fields<Name>) => mutation.mutateAsync(fields),
    isRunning: mutation.isPending,
    error: mutation.error,
    answer: mutation.data,
    reset: mutation.reset,
    requestOf: (fields: Partial<Fields<Name>>): Request => ({ row, fields: fields as Request['fields'] }),
  };
}

/** Asks anew for everything of these families that is on show. */
export async function refresh(client: QueryClient, { org, mode }: Place, families: readonly string[]): Promise<void> {
  const touched = client.getQueryCache().findAll({
    predicate: ({ queryKey }) => {
      const [ofOrg, ofMode, row] = queryKey as unknown as Key;
      return ofOrg === org && ofMode === mode && families.includes(familyOf(row ?? ''));
    },
  });
  await Promise.all(
    touched.map(async (query) => {
      const one = { queryKey: query.queryKey, exact: true };
      // A first answer that is still on its way may be older than what has changed, and would be taken for the newest.
      if (query.state.data === undefined) await client.cancelQueries(one);
      if (pagesOf(query.state.data) <= 1) return client.invalidateQueries(one);
      // Of a list that somebody has scrolled far down all pages would be asked for again: its newest rows are enough.
      if (query.isActive()) await refreshTop(client, query.queryKey as unknown as Key);
      return undefined;
    }),
  );
}

/** The server answers again: what could not be had while it was away is asked for without being told. */
export const askForLost = (client: QueryClient): Promise<void> =>
  client.refetchQueries({ type: 'active', predicate: ({ state }) => isPassing(state.error) });

const pagesOf = (data: unknown): number => (data as InfiniteData<unknown> | undefined)?.pages?.length ?? 0;

type Row = { id?: string; name?: string; key?: string };
export const rowId = (row: unknown): string => {
  const { id, name, key } = row as Row;
  return id ?? name ?? key ?? JSON.stringify(row);
};

async function refreshTop(client: QueryClient, key: Key): Promise<void> {
  const [org, mode, row, fields] = key;
  const limit = 50;
  const newest = (await callApi({ org, mode: mode as Place['mode'] }, row, {
    ...(fields as object),
    limit,
  } as never)) as {
    data: unknown[];
  };
  client.setQueryData(
    key,
    (before: InfiniteData<{ data: unknown[] }> | undefined) => before && merged(before, newest.data),
  );
}

/** Rows that are known stay where they are and show what they are now; those that are new come first. */
function merged(
  before: InfiniteData<{ data: unknown[] }>,
  newest: readonly unknown[],
): InfiniteData<{ data: unknown[] }> {
  const now = new Map(newest.map((row) => [rowId(row), row]));
  const known = new Set<string>();
  const asNow = (row: unknown) => {
    const id = rowId(row);
    if (now.has(id)) known.add(id);
    return now.get(id) ?? row;
  };
  // A page that none of them is on stays the very same, so that nothing of it is drawn or compared.
  const pages = before.pages.map((page) =>
    page.data.some((row) => now.has(rowId(row))) ? { ...page, data: page.data.map(asNow) } : page,
  );
  const added = newest.filter((row) => !known.has(rowId(row)));
  const [first, ...rest] = pages;
  return first ? { ...before, pages: [{ ...first, data: [...added, ...first.data] }, ...rest] } : before;
}
