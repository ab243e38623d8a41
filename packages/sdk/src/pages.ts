import type { CallOptions } from './transport.ts';

type Page = { data: readonly unknown[]; next_cursor: string | null };
type List = (fields: never, options?: CallOptions) => Promise<Page>;
type FieldsOf<L extends List> = NonNullable<Parameters<L>[0]>;
type ItemOf<L extends List> = Awaited<ReturnType<L>>['data'][number];

/** Yields every item of a list and loads pages on demand: `pages(client.users.list, { limit: 100 })`. */
export async function* pages<L extends List>(
  list: L,
  fields: FieldsOf<L>,
  options?: CallOptions,
): AsyncGenerator<ItemOf<L>> {
  let next: string | null | undefined;
  do {
    const page = await list({ ...(fields as object), ...(next && { cursor: next }) } as never, options);
    yield* page.data as ItemOf<L>[];
    next = page.next_cursor;
  } while (next !== null);
}
