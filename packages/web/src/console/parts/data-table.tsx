import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { rowId } from '../data/queries.ts';
import { Fault } from './fault.tsx';
import { Waiting } from './page.tsx';
import { PageLink } from './page-link.tsx';

export type Column<Row> = {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** A track of a grid, such as `2fr` or `7rem`; `minmax(0, 1fr)` where absent. */
  width?: string;
  align?: 'end';
  /** Left out on a phone. */
  isWideOnly?: boolean;
};

type DataTableProps<Row> = {
  /** What the rows are, for those who hear the page. */
  label: string;
  columns: readonly Column<Row>[];
  list: {
    rows: readonly Row[];
    error: Error | null;
    isLoading: boolean;
    isFetchingMore?: boolean;
    hasMore?: boolean;
    more?: () => void;
    refetch?: () => void;
  };
  /** The page behind a row; the first cell is its link. */
  linkOf?: (row: Row) => string;
  empty: ReactNode;
};

const rowHeight = 40;
const features = tableFeatures({});

/**
 * Rows of a list, loaded as they are scrolled to; only those in sight are in the page, so 100,000 scroll as smoothly as
 * ten. A row that comes while somebody points at the table or has scrolled is held back until they ask for it: nothing
 * moves under a pointer.
 */
export function DataTable<Row>({ label, columns, list, linkOf, empty }: DataTableProps<Row>) {
  const { rows, heldBack, show, holding } = useHeldRows(list.rows);
  const shape = useMemo(() => {
    const helper = createColumnHelper<typeof features, { row: Row }>();
    return columns.map((column) => helper.display({ id: column.id, header: column.header }));
  }, [columns]);
  const data = useMemo(() => rows.map((row) => ({ row })), [rows]);
  const table = useTable({
    features,
    columns: shape,
    data,
    getRowId: ({ row }: { row: Row }) => rowId(row),
  } as never) as unknown as TableModel<Row>;

  if (list.isLoading) return <Waiting />;
  if (list.error && rows.length === 0) return <Fault error={list.error} retry={list.refetch} />;
  if (rows.length === 0) return empty;
  const tracks = columns.map(({ width = 'minmax(0, 1fr)' }) => width).join(' ');
  const narrowTracks = columns
    .filter(({ isWideOnly }) => !isWideOnly)
    .map(({ width = 'minmax(0, 1fr)' }) => width)
    .join(' ');
  return (
    <div className="relative" {...holding}>
      {heldBack > 0 && (
        <button
          className="absolute top-10 left-1/2 z-10 h-7 -translate-x-1/2 rounded-full bg-primary px-3 text-on-primary text-sm shadow-pop"
          onClick={show}
          type="button"
        >
          {heldBack === 1 ? '1 new row' : `${heldBack} new rows`} ↑
        </button>
      )}
      <table
        aria-label={label}
        aria-rowcount={list.hasMore ? -1 : rows.length + 1}
        className="panel block w-full overflow-clip [--tracks:var(--narrow)] sm:[--tracks:var(--wide)]"
        onKeyDown={moveBetweenRows}
        style={{ '--wide': tracks, '--narrow': narrowTracks } as object}
      >
        <thead className="block">
          {table.getHeaderGroups().map((group) => (
            <tr className="grid h-9 grid-cols-(--tracks) items-center gap-4 border-b bg-muted/60 px-3" key={group.id}>
              {group.headers.map((header, index) => (
                <th
                  className={`eyebrow truncate text-left ${placing(columns[index] as Column<Row>)}`}
                  key={header.id}
                  scope="col"
                >
                  {columns[index]?.header || <span className="sr-only">Actions</span>}
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <VirtualRows columns={columns} linkOf={linkOf} list={list} table={table} />
      </table>
      {list.error && <Fault className="mt-3" error={list.error} retry={list.more} />}
      <p className="mt-2 h-5 text-quiet text-sm" role="status">
        {list.isFetchingMore
          ? 'Loading more…'
          : list.hasMore
            ? ''
            : rows.length > 12
              ? `${rows.length.toLocaleString('en-US')} in all`
              : ''}
      </p>
    </div>
  );
}

type TableModel<Row> = {
  getHeaderGroups: () => { id: string; headers: { id: string }[] }[];
  getRowModel: () => { rows: { id: string; original: { row: Row }; getAllCells: () => { id: string }[] }[] };
};

function VirtualRows<Row>({
  table,
  columns,
  linkOf,
  list,
}: Pick<DataTableProps<Row>, 'columns' | 'linkOf' | 'list'> & { table: TableModel<Row> }) {
  const place = useRef<HTMLTableSectionElement>(null);
  const [above, setAbove] = useState(0);
  const { rows } = table.getRowModel();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: scroller,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 12,
    scrollMargin: above,
  });
  useLayoutEffect(() => {
    const own = place.current?.getBoundingClientRect().top ?? 0;
    const frame = scroller();
    setAbove(own - (frame?.getBoundingClientRect().top ?? 0) + (frame?.scrollTop ?? 0));
  }, []);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { more, hasMore } = list;
  useLayoutEffect(() => {
    if (hasMore && last >= rows.length - 20) more?.();
  }, [last, rows.length, hasMore, more]);

  return (
    <tbody className="relative block" ref={place} style={{ height: virtual.getTotalSize() }}>
      {items.map((item) => {
        const row = rows[item.index];
        if (!row) return null;
        const to = linkOf?.(row.original.row);
        return (
          <tr
            aria-rowindex={item.index + 2}
            className="absolute inset-x-0 top-0 grid grid-cols-(--tracks) items-center gap-4 border-b px-3 last:border-b-0 hover:bg-muted/50 has-[a[data-row]:focus-visible]:bg-accent-soft"
            key={item.key}
            style={{ height: rowHeight, transform: `translateY(${item.start - above}px)` }}
          >
            {columns.map((column, index) => (
              <td className={`min-w-0 truncate ${placing(column)}`} key={column.id}>
                {index === 0 && to !== undefined ? (
                  // The link is as large as its row; what can be pressed in a row lies above it.
                  <PageLink className="font-medium after:absolute after:inset-0" data-row="" to={to}>
                    {column.cell(row.original.row)}
                  </PageLink>
                ) : (
                  column.cell(row.original.row)
                )}
              </td>
            ))}
          </tr>
        );
      })}
    </tbody>
  );
}

const scroller = () => document.getElementById('main');

const placing = ({ align, isWideOnly }: { align?: 'end'; isWideOnly?: boolean }) =>
  `${align === 'end' ? 'text-right figures' : ''} ${isWideOnly ? 'max-sm:hidden' : ''}`;

/** Arrows go from row to row. */
function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a[data-row]')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (at === -1 || !next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

/** Rows that came on top while somebody pointed here or had scrolled, kept back until they look for them. */
function useHeldRows<Row>(rows: readonly Row[]) {
  const [first, setFirst] = useState<string | null>(null);
  const holding = {
    onPointerEnter: () => rows[0] !== undefined && setFirst(rowId(rows[0])),
    onPointerLeave: () => (scroller()?.scrollTop ?? 0) === 0 && setFirst(null),
  };
  const at = first === null ? 0 : rows.findIndex((row) => rowId(row) === first);
  const heldBack = Math.max(0, at);
  const shown = useMemo(() => (heldBack === 0 ? rows : rows.slice(heldBack)), [rows, heldBack]);
  const show = () => {
    setFirst(null);
    scroller()?.scrollTo({ top: 0 });
  };
  return { rows: shown, heldBack, show, holding };
}
