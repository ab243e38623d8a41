import { area } from '../requirement.ts';

export const lists = area('lists', 'done', [
  [
    'LIST-001',
    'docs/requests.md#lists',
    'A list answers `{data, next_cursor}` and nothing but `null` stands in `next_cursor` on the last page.',
  ],
  ['LIST-002', 'docs/requests.md#lists', 'A list without `limit` gives at most 20 rows.'],
  ['LIST-003', 'docs/requests.md#lists', 'A list accepts `limit` from 1 to 100 and gives at most that many rows.'],
  [
    'LIST-004',
    'docs/requests.md#lists',
    'A `limit` of 0, of 101, or one that is not a whole number answers 400 `invalid_limit`.',
  ],
  [
    'LIST-005',
    'docs/requests.md#lists',
    'The `next_cursor` of a page, sent unchanged as `cursor`, gives the page after it.',
  ],
  ['LIST-006', 'docs/requests.md#lists', 'A list without `cursor` gives the first page.'],
  ['LIST-007', 'docs/requests.md#lists', 'A `cursor` that no page gave out answers 400 `invalid_cursor`.'],
  ['LIST-008', 'docs/requests.md#lists', 'Walking all pages gives every row exactly once, whatever the `limit`.'],
  [
    'LIST-009',
    'docs/requests.md#lists',
    'Rows created while a list is being walked neither repeat nor hide a row that was there before.',
  ],
  [
    'LIST-010',
    'docs/requests.md#lists',
    'A cursor is opaque and signed: with any character changed it answers 400 `invalid_cursor`.',
  ],
  ['LIST-011', 'docs/requests.md#lists', 'A cursor of another org answers 400 `invalid_cursor`.'],
  ['LIST-012', 'docs/requests.md#lists', 'A cursor of the other mode answers 400 `invalid_cursor`.'],
  ['LIST-013', 'docs/requests.md#lists', 'A cursor of another route answers 400 `invalid_cursor`.'],
  ['LIST-014', 'docs/requests.md#lists', 'A list is newest first unless its route specifies otherwise.'],
  ['LIST-015', 'docs/requests.md#lists', 'Rows with the same creation time keep one fixed order from page to page.'],
  ['LIST-016', 'docs/requests.md#lists', 'Pages are read by keyset: a late page costs what the first page costs.'],
  [
    'LIST-700',
    'docs/requests.md#lists',
    'Every filter of a list is found by an index: a page of an org with many rows reads few of them.',
  ],
  [
    'LIST-201',
    'docs/requests.md#lists',
    'The OpenAPI document and the MCP tools show `limit` as an integer from 1 to 100, 20 by default.',
  ],
]);
