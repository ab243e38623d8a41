import { callApi, type Place } from './api.ts';
import type { Fields, ItemOf, ListName } from './rows.ts';

/** Every row of a list, for a file or a sum; `most` keeps a list without end from being read to it. */
export async function allPages<Name extends ListName>(
  place: Place,
  row: Name,
  fields: Fields<Name>,
  most = 10_000,
): Promise<ItemOf<Name>[]> {
  const rows: ItemOf<Name>[] = [];
  let cursor: string | null = null;
  do {
    const asked = { ...fields, limit: 100, ...(cursor !== null && { cursor }) } as Fields<Name>;
    const page = (await callApi(place, row, asked)) as unknown as { data: ItemOf<Name>[]; next_cursor: string | null };
    rows.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null && rows.length < most);
  return rows;
}
