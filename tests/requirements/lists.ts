import { area } from '../requirement.ts';

export const lists = area('lists', 'done', [
  [
    'LIST-001',
    'configuration.md · Conventions',
    'A list answers `{data, next_cursor}` and nothing but `null` stands in `next_cursor` on the last page.',
  ],
  ['LIST-002', 'configuration.md · Conventions', 'A list without `limit` gives at most 20 rows.'],
  [
    'LIST-003',
    'configuration.md · Conventions',
    'A list takes `limit` from 1 to 100 and gives at most that many rows.',
  ],
  [
    'LIST-004',
    'configuration.md · Conventions',
    'A `limit` of 0, of 101, or one that is not a whole number answers 400 `invalid_limit`.',
  ],
  [
    'LIST-005',
    'configuration.md · Conventions',
    'The `next_cursor` of a page, sent unchanged as `cursor`, gives the page after it.',
  ],
  ['LIST-006', 'configuration.md · Conventions', 'A list without `cursor` gives the first page.'],
  ['LIST-007', 'configuration.md · Conventions', 'A `cursor` that no page gave out answers 400 `invalid_cursor`.'],
  ['LIST-008', 'decisions.md · 4', 'Walking all pages gives every row exactly once, whatever the `limit`.'],
  [
    'LIST-009',
    'decisions.md · 4',
    'Rows created while a list is being walked neither repeat nor hide a row that was there before.',
  ],
  [
    'LIST-010',
    'decisions.md · 4',
    'A cursor is opaque and signed: with any character changed it answers 400 `invalid_cursor`.',
  ],
  ['LIST-011', 'decisions.md · 4', 'A cursor of another org answers 400 `invalid_cursor`.'],
  ['LIST-012', 'decisions.md · 4', 'A cursor of the other mode answers 400 `invalid_cursor`.'],
  ['LIST-013', 'decisions.md · 4', 'A cursor of another route answers 400 `invalid_cursor`.'],
  ['LIST-014', 'decisions.md · 4', 'A list is newest first unless its route says otherwise.'],
  ['LIST-015', 'decisions.md · 4', 'Rows with the same creation time keep one fixed order from page to page.'],
  ['LIST-016', 'decisions.md · 4', 'Pages are read by keyset: a late page costs what the first page costs.'],
  [
    'LIST-201',
    'decisions.md · 4',
    'The OpenAPI document and the MCP tools show `limit` as an integer from 1 to 100, 20 by default.',
  ],
]);
