import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { SignatureHelper } from './signature-helper.tsx';

const columns: Column<ItemOf<'webhooks.list'>>[] = [
  {
    id: 'url',
    header: 'URL',
    width: '2fr',
    cell: ({ url }) => <code className="font-mono text-sm">{url}</code>,
  },
  { id: 'about', header: 'Description', isWideOnly: true, cell: ({ description }) => description },
  {
    id: 'events',
    header: 'Events',
    width: '7rem',
    isWideOnly: true,
    cell: ({ events }) => (
      <span className="text-quiet">
        {events[0] === '*' ? 'all' : events.length === 1 ? events[0] : `${events.length} types`}
      </span>
    ),
  },
  {
    id: 'state',
    header: 'Status',
    width: '5.5rem',
    cell: ({ active }) => <Status>{active ? 'active' : 'off'}</Status>,
  },
  {
    id: 'changed',
    header: 'Updated',
    width: '6.5rem',
    isWideOnly: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
];

export default function WebhooksPage() {
  const endpoints = useList('webhooks.list', {});
  const { may } = useRole();
  const go = useGo();
  const creating = useDialogInAddress('new');
  const checking = useDialogInAddress('signature');
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const create = may('webhooks.create') && (
    <Button look="primary" onClick={() => creating.open()}>
      <Icon name="plus" /> Add endpoint
    </Button>
  );
  return (
    <Page
      actions={
        <>
          <Button onClick={() => checking.open()}>Check a signature</Button>
          {create}
        </>
      }
      lead={
        <>
          Endpoints that receive signed events. Failed deliveries are retried. All events are listed under{' '}
          <PageLink className="underline underline-offset-2" to="/events">
            Events
          </PageLink>
          .
        </>
      }
      request={endpoints.request}
      title="Webhooks"
    >
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            action={create}
            example={{
              label: 'Verify every delivery with the signing secret of its endpoint:',
              code: "import { verifyWebhook } from '@vestra/sdk/webhook';\n\nconst event = await verifyWebhook({ body, headers, secret: process.env.WEBHOOK_SECRET });",
            }}
            icon="webhook"
            title="No endpoints yet"
          >
            Add the URL of your program and choose its events.
          </EmptyState>
        }
        label="Webhook endpoints"
        linkOf={({ id }) => `/webhooks/${id}`}
        list={endpoints}
      />
      {creating.value && (
        <EndpointForm
          onClose={creating.close}
          onDone={(endpoint) => {
            creating.close();
            if ('secret' in endpoint) setMade({ id: endpoint.id, secret: String(endpoint.secret) });
          }}
        />
      )}
      {checking.value && <SignatureHelper onClose={checking.close} />}
      {made && <SecretOnce onClose={() => go(`/webhooks/${made.id}`)} secret={made.secret} title="Signing secret" />}
    </Page>
  );
}
