import { callApi, type OrgAndMode } from './api.ts';
import type { Fields, ItemOf, ListName } from './rows.ts';

/** Reads a list to its end, for an export or a sum. `most` bounds the number of rows. */
export async function allPages<Name extends ListName>(
  place: OrgAndMode,
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
