import { signWebhook, verifyWebhook } from '@vestra/sdk/webhook';
import { useState } from 'react';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { EndpointForm } from './endpoint-form.tsx';

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
          <PageLink className="text-accent underline underline-offset-2" to="/events">
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

type Outcome = { fits: boolean; expected: string } | { error: Error };

/** Verifies a webhook signature in the browser: the secret is not sent. */
function SignatureHelper({ onClose }: { onClose: () => void }) {
  const [given, setGiven] = useState({ secret: '', id: '', timestamp: '', signature: '', body: '' });
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const field = (name: keyof typeof given) => ({
    value: given[name],
    onChange: (event: { target: { value: string } }) => {
      setGiven({ ...given, [name]: event.target.value });
      setOutcome(null);
    },
  });
  const check = async () => {
    const { secret, id, timestamp, signature, body } = given;
    const at = new Date(Number(timestamp) * 1000);
    try {
      const signed = await signWebhook({ id, body, secret, at });
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
      // The age is not checked, because old deliveries are debugged here.
      const fits = await verifyWebhook({ body, headers, secret, now: at }).then(
        () => true,
        () => false,
      );
      setOutcome({ fits, expected: signed['webhook-signature'] ?? '' });
    } catch (error) {
      setOutcome({ error: error as Error });
    }
  };
  return (
    <Dialog
      description="Paste a delivery as your program received it. Nothing leaves this page."
      isOpen
      onClose={onClose}
      title="Check a signature"
      width="wide"
    >
      <form
        className="grid gap-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          void check();
        }}
      >
        <Labelled label="Signing secret">
          <input
            autoComplete="off"
            className="control font-mono"
            placeholder="whsec_…"
            type="password"
            {...field('secret')}
          />
        </Labelled>
        <Labelled label="webhook-id">
          <input className="control font-mono" placeholder="evt_…" {...field('id')} />
        </Labelled>
        <Labelled label="webhook-timestamp">
          <input className="control font-mono" placeholder="1731744000" {...field('timestamp')} />
        </Labelled>
        <Labelled label="webhook-signature">
          <input className="control font-mono" placeholder="v1,…" {...field('signature')} />
        </Labelled>
        <Labelled className="sm:col-span-2" label="Raw body">
          <textarea
            className="control h-auto py-1.5 font-mono text-sm"
            rows={5}
            spellCheck={false}
            {...field('body')}
          />
        </Labelled>
        <div className="sm:col-span-2" role="status">
          {outcome && 'error' in outcome && <Fault error={outcome.error} />}
          {outcome && 'fits' in outcome && (
            <>
              <p className={`mb-2 flex items-center gap-2 font-medium ${outcome.fits ? 'text-good' : 'text-danger'}`}>
                <Icon name={outcome.fits ? 'check' : 'warn'} />
                {outcome.fits
                  ? 'The signature is valid.'
                  : 'The signature is invalid: the secret is wrong or the body was modified.'}
              </p>
              <CodeBlock code={outcome.expected} label="Expected signature" />
            </>
          )}
        </div>
        <div className="sm:col-span-2">
          <DialogActions>
            <Button onClick={onClose}>Close</Button>
            <Button disabled={given.secret === ''} look="primary" type="submit">
              Check
            </Button>
          </DialogActions>
        </div>
      </form>
    </Dialog>
  );
}

const Labelled = ({
  label,
  className = '',
  children,
}: {
  label: string;
  className?: string;
  children: React.ReactNode;
}) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is given as `children`.
  <label className={`block ${className}`}>
    <span className="mb-1 block font-medium text-sm">{label}</span>
    {children}
  </label>
);
