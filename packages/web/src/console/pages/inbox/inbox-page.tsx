import { useMemo } from 'react';
import { useList } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { Page, Waiting } from '../../parts/page.tsx';
import { WaitingCard } from '../../parts/waiting/waiting-card.tsx';

const types = ['approval', 'question', 'connect', 'handoff', 'tool_call'];

/** All pending interactions, oldest first. */
export default function InboxPage() {
  const [filters, set] = useFilters('type', 'approver', 'user_id');
  const waiting = useList('interactions.list', filters as never, { limit: 100 });
  // The API returns the newest first, but the longest wait matters most.
  const oldestFirst = useMemo(() => [...waiting.rows].reverse(), [waiting.rows]);
  const isFiltered = Object.keys(filters).length > 0;
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
      ) : oldestFirst.length === 0 ? (
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
        <div className="flex max-w-3xl flex-col gap-3">
          {waiting.hasMore && (
            <Button isBusy={waiting.isFetchingMore} onClick={waiting.more}>
              Load older
            </Button>
          )}
          {oldestFirst.map((each) => (
            <WaitingCard key={each.id} waiting={each} />
          ))}
        </div>
      )}
    </Page>
  );
}
