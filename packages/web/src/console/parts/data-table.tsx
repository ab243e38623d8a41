import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { rowId } from '../data/queries.ts';
import { Fault } from './fault.tsx';
import { Waiting } from './page.tsx';
import { PageLink } from './page-link.tsx';

export type Column<Row> = {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** A CSS grid track, such as `2fr` or `7rem`. Defaults to `1fr`. */
  width?: string;
  align?: 'end';
  /** Hidden on phones. */
  isWideOnly?: boolean;
  /** Hidden below 1280 pixels, where the table would otherwise cut off what identifies a row. */
  isLargeOnly?: boolean;
};

export type TableRows<Row> = {
  rows: readonly Row[];
  error: Error | null;
  isLoading: boolean;
  isFetchingMore?: boolean;
  hasMore?: boolean;
  more?: () => void;
  refetch?: () => void;
};

type DataTableProps<Row> = {
  /** The accessible name of the table. */
  label: string;
  columns: readonly Column<Row>[];
  list: TableRows<Row>;
  /** The page of a row. The first cell links to it. */
  linkOf?: (row: Row) => string;
  empty: ReactNode;
};

/** Matches the class `h-10`. */
const rowHeight = 40;
/** The next page is loaded this many rows before the end. */
const loadedAhead = 60;
const features = tableFeatures({});

/** Content never widens a track: the cell truncates it. */
const atMost = (width: string) => `minmax(0, ${width})`;

/**
 * A virtualized table that loads rows on scroll. New rows are held back while the pointer is over it, so that nothing moves.
 */
export function DataTable<Row>({ label, columns, list, linkOf, empty }: DataTableProps<Row>) {
  const { rows, heldBack, show, holding } = useHeldRows(list.rows);
  const titled = useRef<HTMLElement | null>(null);
  if (list.isLoading) return <Waiting />;
  if (list.error && rows.length === 0) return <Fault error={list.error} retry={list.refetch} />;
  if (rows.length === 0) return empty;
  const tracksOf = (shown: readonly Column<Row>[]) =>
    shown
      .map(({ width = '1fr' }, index) =>
        width.endsWith('fr') ? (index === 0 ? `minmax(22%, ${width})` : atMost(width)) : width,
      )
      .join(' ');
  const wideTracks = tracksOf(columns.filter(({ isLargeOnly }) => !isLargeOnly));
  // The first column identifies the row. On a phone it gets at least a third of the width, unless its width is fixed.
  const narrowTracks = columns
    .filter(({ isWideOnly, isLargeOnly }) => !isWideOnly && !isLargeOnly)
    .map(({ width = '1fr' }, index) => (index === 0 && width.endsWith('fr') ? `minmax(33%, ${width})` : atMost(width)))
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
        className="panel block w-full overflow-clip [--tracks:var(--narrow)] sm:[--tracks:var(--wide)] xl:[--tracks:var(--large)]"
        onKeyDown={moveBetweenRows}
        onPointerMove={(event) => {
          titled.current = showWholeText(event, titled.current);
        }}
        style={{ '--large': tracksOf(columns), '--wide': wideTracks, '--narrow': narrowTracks } as object}
      >
        <VirtualRows columns={columns} linkOf={linkOf} list={list} rows={rows} />
      </table>
      {list.error && <Fault className="mt-3" error={list.error} retry={list.more} />}
      <p className="mt-2 h-5 text-quiet text-sm" role="status">
        {list.isFetchingMore
          ? 'Loading more…'
          : list.hasMore
            ? ''
            : rows.length > 12
              ? `${rows.length.toLocaleString('en-US')} in total`
              : ''}
      </p>
    </div>
  );
}

type TableModel<Row> = {
  getHeaderGroups: () => { id: string; headers: { id: string }[] }[];
  getRowModel: () => { rows: { id: string; original: { row: Row } }[] };
};

/** Only visible rows become table rows, so scrolling costs the same for any length. */
function VirtualRows<Row>({
  rows,
  columns,
  linkOf,
  list,
}: Pick<DataTableProps<Row>, 'columns' | 'linkOf' | 'list'> & { rows: readonly Row[] }) {
  const place = useRef<HTMLTableSectionElement>(null);
  const [above, setAbove] = useState(0);
  // All rows have the same height and are keyed by index: computing keys would read every row.
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: scroller,
    estimateSize: () => rowHeight,
    overscan: 6,
    scrollMargin: above,
  });
  useLayoutEffect(() => {
    const own = place.current?.getBoundingClientRect().top ?? 0;
    const frame = scroller();
    setAbove(own - (frame?.getBoundingClientRect().top ?? 0) + (frame?.scrollTop ?? 0));
  }, []);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  const { more, hasMore, error } = list;
  useLayoutEffect(() => {
    if (hasMore && !error && last >= rows.length - loadedAhead) more?.();
  }, [last, rows.length, hasMore, more, error]);

  const shape = useMemo(() => {
    const helper = createColumnHelper<typeof features, { row: Row }>();
    return columns.map((column) => helper.display({ id: column.id, header: column.header }));
  }, [columns]);
  const data = useMemo(() => rows.slice(first, last + 1).map((row) => ({ row })), [rows, first, last]);
  const table = useTable({
    features,
    columns: shape,
    data,
    getRowId: ({ row }: { row: Row }) => rowId(row),
  } as never) as unknown as TableModel<Row>;
  return (
    <>
      <thead className="block">
        {table.getHeaderGroups().map((group) => (
          <tr
            className="grid h-9 grid-cols-(--tracks) items-center gap-4 max-xl:gap-3 border-b bg-muted/60 px-3 max-sm:gap-2"
            key={group.id}
          >
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
      {/* One padding above all rows: rows without inline styles share their computed style. */}
      <tbody
        className="block [overflow-anchor:none]"
        ref={place}
        style={{ height: rows.length * rowHeight, paddingTop: first * rowHeight }}
      >
        {table.getRowModel().rows.map(({ id, original: { row } }, index) => (
          <OneRow
            columns={columns as never}
            index={first + index}
            isLast={first + index === rows.length - 1}
            key={id}
            row={row}
            to={linkOf?.(row)}
          />
        ))}
      </tbody>
    </>
  );
}

type OneRowProps<Row> = {
  row: Row;
  columns: readonly Column<Row>[];
  to: string | undefined;
  index: number;
  isLast: boolean;
};

/** Memoized, because most visible rows stay the same during scrolling. */
const OneRow = memo(function OneRow({ row, columns, to, index: at, isLast }: OneRowProps<unknown>) {
  return (
    <tr
      aria-rowindex={at + 2}
      className={`relative grid h-10 grid-cols-(--tracks) items-center gap-4 max-xl:gap-3 px-3 max-sm:gap-2 hover:bg-muted/50 ${isLast ? '' : 'border-b'}`}
    >
      {columns.map((column, index) => (
        <td className={`min-w-0 truncate ${placing(column)}`} key={column.id}>
          {index === 0 && to !== undefined ? (
            // The link covers the row. Buttons in the row are above it.
            <PageLink
              className="font-medium after:absolute after:inset-0 focus-visible:after:bg-accent/10"
              data-row=""
              to={to}
            >
              {column.cell(row)}
            </PageLink>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
});

const scroller = () => document.getElementById('main');

type Placed = Pick<Column<never>, 'align' | 'isWideOnly' | 'isLargeOnly'>;

/** Text that follows a number starts at a distance from it. */
const placing = ({ align, isWideOnly, isLargeOnly }: Placed) =>
  `${align === 'end' ? 'text-right figures not-last:pr-2' : ''} ${isLargeOnly ? 'max-xl:hidden' : isWideOnly ? 'max-sm:hidden' : ''}`;

/** Arrow keys move between rows. */
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

/**
 * Shows the whole text of a cell that is cut off as a tooltip. The link of a row covers its cells, so that it gets the
 * tooltip of the cell below the pointer, also one that the cell has by itself. Returns the element with the tooltip.
 */
function showWholeText({ clientX, clientY }: PointerEvent, before: HTMLElement | null): HTMLElement | null {
  const below = document.elementsFromPoint(clientX, clientY) as HTMLElement[];
  const cell = below.find((each) => each.matches('td, th'));
  const holder = below[0]?.closest<HTMLElement>('a[data-row], td, th') ?? null;
  if (before && before !== holder) before.title = '';
  if (!cell || !holder) return null;
  const isCut = [cell, ...cell.querySelectorAll('.truncate')].some((each) => each.scrollWidth > each.clientWidth);
  const own = cell.querySelector<HTMLElement>('[title]:not([data-row])')?.title;
  holder.title = own || (isCut ? (cell.textContent ?? '') : '');
  return holder;
}

/** Holds back new rows while the pointer is over the table. */
function useHeldRows<Row>(rows: readonly Row[]) {
  const [first, setFirst] = useState<string | null>(null);
  const holding = {
    onPointerEnter: () => rows[0] !== undefined && setFirst(rowId(rows[0])),
    onPointerLeave: () => (scroller()?.scrollTop ?? 0) === 0 && setFirst(null),
  };
  const heldBack = useMemo(
    () =>
      first === null
        ? 0
        : Math.max(
            0,
            rows.findIndex((row) => rowId(row) === first),
          ),
    [rows, first],
  );
  const shown = useMemo(() => (heldBack === 0 ? rows : rows.slice(heldBack)), [rows, heldBack]);
  const show = () => {
    setFirst(null);
    scroller()?.scrollTo({ top: 0 });
  };
  return { rows: shown, heldBack, show, holding };
}
