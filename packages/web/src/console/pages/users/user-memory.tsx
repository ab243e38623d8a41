import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useList, useOne } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { AreaField, FormDialog, SelectField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ModelText } from '../../parts/model-text.tsx';
import { say } from '../../parts/notices.tsx';
import { Section, Waiting } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Status, Time } from '../../parts/shown.tsx';

type Fact = ItemOf<'memory.list'>;

const kinds = ['other', 'identity', 'relationship', 'commitment', 'preference', 'project_state'] as const;

/** The memory of a user. The API addresses the service user by omitting `user_id`. */
export function UserMemory({ user }: { user: RouteAnswer<'users.get'> }) {
  const of = user.is_service_user ? {} : { user_id: user.id };
  const { may } = useRole();
  const facts = useList('memory.list', of);
  const profile = useOne('memory.list', { ...of, limit: 1 });
  const adding = useDialogInAddress('remember');
  const clearing = useDialogInAddress('forget');
  const forget = useChange('memory.delete', { onDone: () => say('Fact deleted') });
  if (user.memory_mode === 'none') {
    return (
      <EmptyState icon="book" title="Memory is off">
        The org or the user’s deployment turned memory off.
      </EmptyState>
    );
  }
  const columns: Column<Fact>[] = [
    { id: 'text', header: 'Fact', width: '3fr', cell: ({ text }) => <span title={text}>{text}</span> },
    { id: 'kind', header: 'Kind', width: '8rem', isWideOnly: true, cell: ({ kind }) => <Status>{kind}</Status> },
    {
      id: 'source',
      header: 'Source',
      width: '8rem',
      isWideOnly: true,
      cell: ({ source }) => <span className="text-quiet">{source.replaceAll('_', ' ')}</span>,
    },
    { id: 'seen', header: 'Observed', width: '6rem', cell: ({ observed_at }) => <Time at={observed_at} /> },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: ({ id, text }) => (
        <RowMenu
          items={[
            {
              label: 'Delete',
              icon: 'trash',
              isDanger: true,
              run: () => forget.run({ memory_id: id, ...of }),
              isOff: !may('memory.delete'),
            },
          ]}
          of={text}
        />
      ),
    },
  ];
  const markdown = profile.data?.profile?.markdown;
  return (
    <>
      {forget.error && <Fault className="mb-3" error={forget.error} />}
      <SearchMemory of={of} />
      {markdown && (
        <Section title="Profile">
          <div className="panel p-4">
            <ModelText text={markdown} />
          </div>
        </Section>
      )}
      <Section
        actions={
          <>
            {facts.rows.length > 0 && (
              <Button disabled={!may('memory.deleteAll')} look="danger-quiet" onClick={() => clearing.open()}>
                Delete all
              </Button>
            )}
            <Button disabled={!may('memory.create')} onClick={() => adding.open()}>
              <Icon name="plus" /> Add fact
            </Button>
            <RequestMenu request={facts.request} />
          </>
        }
        title="Facts"
      >
        <DataTable
          columns={columns}
          empty={
            <EmptyState icon="book" title="No facts yet">
              The agent saves useful facts from each conversation. You can also add one yourself.
            </EmptyState>
          }
          label="Facts"
          list={facts}
        />
      </Section>
      {adding.value && (
        <FormDialog
          fields={of}
          initial={{ text: '', kind: 'other' }}
          notice="Fact added"
          onClose={adding.close}
          row="memory.create"
          submit="Add fact"
          title="Add a fact"
        >
          <AreaField label="Fact" name="text" placeholder="Prefers to be called in the morning" rows={3} />
          <SelectField
            label="Kind"
            name="kind"
            options={kinds.map((kind) => [kind, kind.replaceAll('_', ' ')] as const)}
          />
        </FormDialog>
      )}
      {clearing.value && (
        <ConfirmChange
          act="Delete all"
          fields={of}
          loses="All facts and the profile of this user are deleted. Conversations are kept."
          onClose={clearing.close}
          onDone={({ memories_deleted }) => {
            say(`${memories_deleted} facts deleted`);
            clearing.close();
          }}
          row="memory.deleteAll"
          title="Delete all memory of this user?"
          typed={user.id}
        />
      )}
    </>
  );
}

function SearchMemory({ of }: { of: { user_id?: string } }) {
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  const found = useOne('memory.search', { ...of, q }, { enabled: q !== '' });
  return (
    <form
      className="mb-6"
      onSubmit={(event) => {
        event.preventDefault();
        setQ(typed.trim());
      }}
    >
      <div className="flex gap-2">
        <input
          aria-label="Test search"
          className="control max-w-md"
          maxLength={500}
          onChange={(event) => setTyped(event.target.value)}
          placeholder="Test search"
          value={typed}
        />
        <Button type="submit">Search</Button>
      </div>
      {q !== '' && (
        <div className="mt-2">
          {found.isLoading && <Waiting />}
          {found.error && <Fault error={found.error} />}
          {found.data && (
            <p className="panel whitespace-pre-wrap break-words p-3">{found.data.text ?? 'No results.'}</p>
          )}
        </div>
      )}
    </form>
  );
}
