import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange, useList, useOne } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, LoadedPage, Section } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { duration, Status, Time } from '../../parts/shown.tsx';
import { EndpointForm } from './endpoint-form.tsx';

type Endpoint = RouteAnswer<'webhooks.get'>;
type Delivery = ItemOf<'webhooks.deliveries'>;

export default function EndpointPage() {
  const { endpoint: endpoint_id } = useParams({ strict: false }) as { endpoint: string };
  const endpoint = useOne('webhooks.get', { endpoint_id });
  return (
    <LoadedPage above={{ to: '/webhooks', title: 'Webhooks' }} query={endpoint} title="Webhook endpoint">
      {(found) => <Shown endpoint={found} key={found.id} />}
    </LoadedPage>
  );
}

function Shown({ endpoint }: { endpoint: Endpoint }) {
  const { may } = useRole();
  const go = useGo();
  const [secret, setSecret] = useState<string | null>(null);
  const rolling = useDialogInAddress('roll');
  const of = { endpoint_id: endpoint.id };
  const deliveries = useList('webhooks.deliveries', of);
  const told = (delivery: RouteAnswer<'webhooks.test'>) =>
    say(
      delivery.status === 'succeeded'
        ? `Delivered: ${delivery.status_code}`
        : `Sent: ${delivery.error ?? 'no response yet'}`,
    );
  const test = useChange('webhooks.test', { onDone: told });
  const retry = useChange('webhooks.retry', { onDone: told });
  const isOfFile = endpoint.managed_by === 'file';
  const columns: Column<Delivery>[] = [
    { id: 'event', header: 'Event', cell: ({ event_type }) => event_type },
    {
      id: 'status',
      header: 'Status',
      width: '6rem',
      cell: ({ status }) => (
        <Status tone={status === 'succeeded' ? 'good' : status === 'failed' ? 'danger' : 'warn'}>{status}</Status>
      ),
    },
    {
      id: 'attempt',
      header: 'Attempt',
      width: '4.5rem',
      align: 'end',
      isLargeOnly: true,
      cell: ({ attempt }) => attempt,
    },
    {
      id: 'code',
      header: 'Code',
      width: '4rem',
      align: 'end',
      isWideOnly: true,
      cell: ({ status_code }) => status_code ?? '–',
    },
    {
      id: 'took',
      header: 'Duration',
      width: '5rem',
      align: 'end',
      isLargeOnly: true,
      cell: ({ duration_ms }) => (duration_ms === null ? '–' : duration(duration_ms)),
    },
    {
      id: 'error',
      header: 'Error',
      isWideOnly: true,
      cell: ({ error, next_attempt_at }) => (
        <span className="text-quiet" title={error ?? ''}>
          {error}
          {next_attempt_at && (
            <>
              {' next attempt '}
              <Time at={next_attempt_at} />
            </>
          )}
        </span>
      ),
    },
    { id: 'at', header: 'Sent', width: '6rem', isWideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: ({ id, event_id, event_type }) => (
        <RowMenu
          items={[
            { label: 'View payload', icon: 'code', run: () => go(`/events/${event_id}`) },
            {
              label: 'Resend',
              icon: 'refresh',
              run: () => retry.run({ ...of, delivery_id: id }),
              isOff: !may('webhooks.retry'),
            },
          ]}
          of={`the delivery of ${event_type}`}
        />
      ),
    },
  ];
  return (
    <ResourcePage
      above={{ to: '/webhooks', title: 'Webhooks' }}
      actions={
        <>
          <Button disabled={!may('webhooks.test')} isBusy={test.isRunning} look="primary" onClick={() => test.run(of)}>
            Send a test event
          </Button>
          <Button disabled={!may('webhooks.rollSecret')} onClick={() => rolling.open()}>
            Roll secret
          </Button>
        </>
      }
      edit={{
        row: 'webhooks.update',
        isOff: isOfFile,
        form: (close) => (
          <EndpointForm
            endpoint={endpoint}
            onClose={close}
            onDone={() => {
              say('Saved');
              close();
            }}
          />
        ),
      }}
      remove={{
        row: 'webhooks.delete',
        fields: of,
        noun: 'endpoint',
        isOff: isOfFile,
        loses: (
          <>
            <code className="break-all font-mono text-foreground">{endpoint.url}</code> receives no more events, and its
            delivery log is deleted.
          </>
        ),
      }}
      request={deliveries.request}
      tabTitle="Webhook"
      title={<span className="break-all">{endpoint.url}</span>}
    >
      {(test.error ?? retry.error) && <Fault className="mb-4" error={(test.error ?? retry.error) as Error} />}
      <Section title="Endpoint">
        <Facts
          rows={[
            ['Id', <Id key="id">{endpoint.id}</Id>],
            ['Status', <Status key="state">{endpoint.active ? 'active' : 'off'}</Status>],
            ['Description', endpoint.description],
            ['Events', endpoint.events[0] === '*' ? 'all' : endpoint.events.join(', ')],
            ['Managed by', isOfFile ? 'deployment file (edit it there)' : 'console or API'],
            ['Updated', <Time at={endpoint.updated_at} key="changed" />],
          ]}
        />
      </Section>
      <Section title="Deliveries">
        <DataTable
          columns={columns}
          empty={
            <EmptyState icon="webhook" title="No deliveries yet">
              Send a test event, or wait for the first{' '}
              <PageLink className="text-accent underline underline-offset-2" to="/events">
                event
              </PageLink>
              .
            </EmptyState>
          }
          label="Deliveries"
          list={deliveries}
        />
      </Section>
      {rolling.value && (
        <ConfirmChange
          act="Roll secret"
          fields={of}
          loses="Deliveries are signed with both secrets for 24 hours, then only with the new one."
          onClose={rolling.close}
          onDone={(answer) => {
            rolling.close();
            setSecret(answer.secret);
          }}
          row="webhooks.rollSecret"
          title="Roll the signing secret?"
        />
      )}
      {secret !== null && <SecretOnce onClose={() => setSecret(null)} secret={secret} title="New signing secret" />}
    </ResourcePage>
  );
}
