import type { Interaction } from '@vestra/sdk/resources';
import { useLayoutEffect, useMemo, useRef } from 'react';
import { headlineOf } from '../../../approval/shown-row.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { type Names, UserName, useNames } from '../../parts/names.tsx';
import { Page, Waiting } from '../../parts/page.tsx';
import { Time } from '../../parts/shown.tsx';
import { shownRows, WaitingCard } from '../../parts/waiting/waiting-card.tsx';

const types = ['approval', 'question', 'connect', 'handoff', 'tool_call'];

type Pending = ItemOf<'interactions.list'>;

/**
 * All pending interactions: those for a person first, then calls that a program usually answers, each oldest first. A
 * wide screen shows the list beside the chosen one, a narrow one all of them.
 */
export default function InboxPage() {
  const [{ at, ...filters }, set] = useFilters('type', 'approver', 'user_id', 'at');
  const waiting = useList('interactions.list', filters as never, { limit: 100 });
  const names = useNames();
  const rows = useMemo(() => inOrder(waiting.rows), [waiting.rows]);
  const chosen = rows.find(({ id }) => id === at) ?? rows[0];
  const isFiltered = Object.keys(filters).length > 0;
  useKeys({ rows, chosen, choose: (id) => set({ at: id }) });
  return (
    <Page
      lead="Approvals, questions and function calls that your agents wait for. You answer on behalf of the org."
      request={waiting.request}
      title="Inbox"
    >
      <FilterBar
        filters={filters as Record<string, string>}
        set={set as never}
        shown={[
          { name: 'type', label: 'Type', options: types },
          { name: 'approver', label: 'Approver', options: ['user', 'org'] },
          { name: 'user_id', label: 'User', placeholder: 'User id' },
        ]}
      />
      {waiting.isLoading ? (
        <Waiting />
      ) : waiting.error ? (
        <Fault error={waiting.error} retry={waiting.refetch} />
      ) : rows.length === 0 ? (
        <EmptyState
          example={{
            label: 'A function that needs the org’s approval, in a deployment file:',
            code: 'tools:\n  - function: refund\n    description: Refunds an order.\n    input: { order: string, usd: number }\n    approver: org',
          }}
          icon="inbox"
          title={isFiltered ? 'Nothing matches these filters' : 'Nothing is pending'}
        >
          Approvals, questions and function calls appear here until they are answered, here or through the API.
        </EmptyState>
      ) : (
        <div className="grid gap-4 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
          <nav aria-label="Pending" className="max-lg:hidden">
            <ul className="panel divide-y overflow-hidden">
              {rows.map((row) => (
                <li key={row.id}>
                  <Entry
                    isChosen={row.id === chosen?.id}
                    names={names}
                    onChoose={() => set({ at: row.id })}
                    row={row}
                  />
                </li>
              ))}
            </ul>
            <p className="mt-2 px-1 text-quiet text-xs">
              <kbd>J</kbd> and <kbd>K</kbd> choose, <kbd>A</kbd> approves, <kbd>D</kbd> denies.
            </p>
          </nav>
          <div className="flex flex-col gap-3">
            {rows.map((row) => (
              <div className={row.id === chosen?.id ? '' : 'lg:hidden'} key={row.id}>
                <WaitingCard user={row.user_id !== null && <UserName id={row.user_id} names={names} />} waiting={row} />
              </div>
            ))}
            {waiting.hasMore && (
              <Button isBusy={waiting.isFetchingMore} onClick={waiting.more}>
                Load older
              </Button>
            )}
          </div>
        </div>
      )}
    </Page>
  );
}

/** The API returns the newest first, but the longest wait of a person matters most. */
const inOrder = (rows: readonly Pending[]): Pending[] =>
  rows.toSorted(
    (one, other) =>
      Number(one.type === 'tool_call') - Number(other.type === 'tool_call') ||
      one.created_at.localeCompare(other.created_at) ||
      one.id.localeCompare(other.id),
  );

type EntryProps = { row: Pending; isChosen: boolean; names: Names; onChoose: () => void };

function Entry({ row, isChosen, names, onChoose }: EntryProps) {
  const values = shownRows(row.details)
    .map(({ label, value }) => `${label} ${value}`)
    .join(' · ');
  return (
    <button
      aria-current={isChosen ? 'true' : undefined}
      className="block w-full px-3 py-2.5 text-left hover:bg-muted aria-[current=true]:bg-accent-soft"
      onClick={onChoose}
      type="button"
    >
      <span className="flex items-baseline gap-2 text-quiet text-xs">
        <span className="min-w-0 grow truncate">
          {row.user_id === null ? 'The org’s own agent' : <UserName id={row.user_id} names={names} />}
        </span>
        <Time at={row.created_at} />
      </span>
      <span className="mt-0.5 line-clamp-2 break-words font-medium text-sm">
        {headlineOf(row as Interaction) ?? row.summary}
      </span>
      {values !== '' && <span className="mt-0.5 block truncate text-quiet text-xs">{values}</span>}
    </button>
  );
}

type KeyState = { rows: readonly Pending[]; chosen: Pending | undefined; choose: (id: string) => void };

/** J and K move through the list. A and D press the buttons of the chosen approval, which may be switched off. */
function useKeys(state: KeyState): void {
  const latest = useRef(state);
  latest.current = state;
  // Before the page is drawn: a key that is pressed at first sight must not be lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const { rows, chosen, choose } = latest.current;
      const key = event.key.toLowerCase();
      if (key === 'j' || key === 'k') {
        const next = rows[rows.findIndex(({ id }) => id === chosen?.id) + (key === 'j' ? 1 : -1)];
        if (next) choose(next.id);
      }
      const answer = key === 'a' ? 'approve' : key === 'd' ? 'deny' : null;
      if (answer === null || !chosen) return;
      document.querySelector<HTMLButtonElement>(`[data-interaction="${chosen.id}"] [data-answer=${answer}]`)?.click();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** Letters belong to fields, dialogs and menus while one of them is in use. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=menu]') !== null;
