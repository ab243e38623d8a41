import { useState } from 'react';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
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
  const go = useGo();
  const checking = useDialogInAddress('signature');
  const [created, setCreated] = useState<{ id: string; secret: string } | null>(null);
  return (
    <ResourceList
      actions={<Button onClick={() => checking.open()}>Check a signature</Button>}
      columns={columns}
      create={{
        label: 'Add endpoint',
        row: 'webhooks.create',
        dialog: (close) => (
          <EndpointForm
            onClose={close}
            onDone={(endpoint) => {
              close();
              if ('secret' in endpoint) setCreated({ id: endpoint.id, secret: String(endpoint.secret) });
            }}
          />
        ),
      }}
      empty={{
        icon: 'webhook',
        title: 'No endpoints yet',
        text: 'Add the URL of your program and choose its events.',
        example: {
          label: 'Verify every delivery with the signing secret of its endpoint:',
          code: "import { verifyWebhook } from '@vestra/sdk/webhook';\n\nconst event = await verifyWebhook({ body, headers, secret: process.env.WEBHOOK_SECRET });",
        },
      }}
      label="Webhook endpoints"
      lead={
        <>
          Endpoints that receive signed events. Failed deliveries are retried. All events are listed under{' '}
          <PageLink className="underline underline-offset-2" to="/events">
            Events
          </PageLink>
          .
        </>
      }
      linkOf={({ id }) => `/webhooks/${id}`}
      list={endpoints}
      title="Webhooks"
    >
      {checking.value && <SignatureHelper onClose={checking.close} />}
      {created && (
        <SecretOnce onClose={() => go(`/webhooks/${created.id}`)} secret={created.secret} title="Signing secret" />
      )}
    </ResourceList>
  );
}
