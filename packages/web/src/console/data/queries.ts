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
import { callApi, type OrgAndMode, useOrgAndMode } from './api.ts';
import { rememberChange } from './last-change.ts';
import {
  type Fields,
  familyOf,
  type ItemOf,
  type ListName,
  type Request,
  type RouteAnswer,
  type RowName,
} from './rows.ts';

/** A longer wait is reported to the user instead. */
const longestWaitMs = 10_000;
const retryAfterOf = (error: unknown): number => (isPassing(error) ? (error.retryAfterMs ?? 0) : 0);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A server that restarts is back within seconds, so the page retries before it shows an error.
      retry: (failures, error) => isPassing(error) && failures < 6 && (error.retryAfterMs ?? 0) <= longestWaitMs,
      retryDelay: (failures, error) => Math.max(retryAfterOf(error), Math.min(500 * 2 ** failures, 2000)),
      // A browser that reports offline may still reach a server on the same machine or network.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 10_000,
      refetchOnWindowFocus: (query) => pagesOf(query.state.data) <= 1,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** The query client retries by itself. The timeout detects connections that died silently. */
const aRead = { retries: 0, timeoutMs: 30_000 };

type Key = readonly [org: string, mode: string, row: RowName, fields: unknown];
const keyOf = ({ org, mode }: OrgAndMode, row: RowName, fields: unknown): Key => [org, mode, row, fields];

/** The cached answer of one call. */
export function useOne<Name extends RowName>(row: Name, fields: Fields<Name>, options: { enabled?: boolean } = {}) {
  const place = useOrgAndMode();
  const query = useQuery({
    queryKey: keyOf(place, row, fields),
    queryFn: ({ signal }) => callApi(place, row, fields, { signal, ...aRead }),
    placeholderData: keepPreviousData,
    ...options,
  });
  const request: Request = { row, fields: fields as Request['fields'] };
  return { ...query, data: query.data as RouteAnswer<Name> | undefined, request };
}

type Page<Name extends ListName> = { data: ItemOf<Name>[]; next_cursor: string | null };

const noRows: never[] = [];
/** The API's maximum page size. */
const mostRows = 100;

/** A list that loads one more page per call of `more`. */
export function useList<Name extends ListName>(
  row: Name,
  fields: Fields<Name>,
  { limit = 50, enabled = true }: { limit?: number; enabled?: boolean } = {},
) {
  const place = useOrgAndMode();
  const query = useInfiniteQuery({
    queryKey: keyOf(place, row, fields),
    queryFn: async ({ pageParam, signal }) => {
      // A user who scrolls reads on, so later pages have the maximum size.
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
  // Copies arrays only and calls nothing per row: this runs again for every page.
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

/** A mutation. It invalidates the queries of its family and of `touches`. */
export function useChange<Name extends RowName>(
  row: Name,
  {
    touches = [],
    onDone,
    retries,
  }: {
    touches?: readonly string[];
    onDone?: (answer: RouteAnswer<Name>) => void;
    /** Default: that of the SDK, which repeats only what is safe to repeat. */
    retries?: number;
  } = {},
) {
  const place = useOrgAndMode();
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: (fields: Fields<Name>) => {
      rememberChange(place, { row, fields: fields as Request['fields'] });
      return callApi(place, row, fields, { ...(retries !== undefined && { retries }) });
    },
    onSuccess: async (answer) => {
      void refresh(client, place, [familyOf(row), ...touches]);
      onDone?.(answer);
    },
  });
  return {
    run: (fields: Fields<Name>) => mutation.mutate(fields),
    /** Like `run`, but returns a promise that rejects if the change fails. */
    runNow: (fields: Fields<Name>) => mutation.mutateAsync(fields),
    isRunning: mutation.isPending,
    error: mutation.error,
    answer: mutation.data,
    reset: mutation.reset,
    requestOf: (fields: Partial<Fields<Name>>): Request => ({ row, fields: fields as Request['fields'] }),
  };
}

/** Invalidates the cached queries of these families. */
export async function refresh(
  client: QueryClient,
  { org, mode }: OrgAndMode,
  families: readonly string[],
): Promise<void> {
  const touched = client.getQueryCache().findAll({
    predicate: ({ queryKey }) => {
      const [ofOrg, ofMode, row] = queryKey as unknown as Key;
      return ofOrg === org && ofMode === mode && families.includes(familyOf(row ?? ''));
    },
  });
  await Promise.all(
    touched.map(async (query) => {
      const one = { queryKey: query.queryKey, exact: true };
      // A first answer in flight may be older than the change, so it is cancelled.
      if (query.state.data === undefined) await client.cancelQueries(one);
      if (pagesOf(query.state.data) <= 1) return client.invalidateQueries(one);
      // Refetching all pages of a long list is too expensive: only its newest rows are read.
      if (query.isActive()) await refreshTop(client, query.queryKey as unknown as Key);
      return undefined;
    }),
  );
}

/** Refetches the queries that failed while the server was unreachable. */
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
  const newest = (await callApi({ org, mode: mode as OrgAndMode['mode'] }, row, {
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

/** Updates known rows in place and puts new rows first. */
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
  // Unchanged pages keep their identity, so that React skips them.
  const pages = before.pages.map((page) =>
    page.data.some((row) => now.has(rowId(row))) ? { ...page, data: page.data.map(asNow) } : page,
  );
  const added = newest.filter((row) => !known.has(rowId(row)));
  const [first, ...rest] = pages;
  return first ? { ...before, pages: [{ ...first, data: [...added, ...first.data] }, ...rest] } : before;
}
