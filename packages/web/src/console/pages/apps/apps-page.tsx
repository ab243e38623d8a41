import { VestraError } from '@vestra/sdk/errors';
import { useState } from 'react';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useChange, useList, useOne } from '../../data/queries.ts';
import type { ItemOf, RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton, Id } from '../../parts/copy.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { ChangeForm, SelectField, TextField, useForm } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, Page, Waiting } from '../../parts/page.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Connections } from './connections.tsx';

export default function AppsPage() {
  const [{ show = 'catalogue' }] = useFilters('show');
  const { may } = useRole();
  const apps = useList('apps.list', {}, { limit: 100 });
  const giving = useDialogInAddress('client');
  const connecting = useDialogInAddress('connect');
  const appOf = (id: string | null) => apps.rows.find((app) => app.id === id);
  const clientOf = appOf(giving.value);
  const isCatalogue = show !== 'connections';
  return (
    <Page
      actions={
        may('connections.create') && (
          <Button look="primary" onClick={() => connecting.open()}>
            <Icon name="plus" /> Connect an app
          </Button>
        )
      }
      lead="Apps that users connect with their own account, so that an agent can act for them."
      request={apps.request}
      title="Apps and connections"
    >
      <Tabs
        chosen={isCatalogue ? 'catalogue' : 'connections'}
        label="Sections"
        tabs={[
          { id: 'catalogue', title: 'Catalogue', to: '/apps' },
          { id: 'connections', title: 'Connections', to: '/apps', search: { show: 'connections' } },
        ]}
      />
      {isCatalogue ? <Catalogue apps={apps} giveClient={giving.open} /> : <Connections />}
      {clientOf && <AppClient app={clientOf} onClose={giving.close} />}
      {connecting.value && apps.rows.length > 0 && (
        <ConnectApp apps={apps.rows} chosen={connecting.value} onClose={connecting.close} />
      )}
    </Page>
  );
}

function Catalogue({
  apps,
  giveClient,
}: {
  apps: ReturnType<typeof useList<'apps.list'>>;
  giveClient: (app: string) => void;
}) {
  const { may } = useRole();
  if (apps.isLoading) return <Waiting />;
  if (apps.error) return <Fault error={apps.error} retry={apps.refetch} />;
  if (apps.rows.length === 0) {
    return (
      <EmptyState icon="app" title="No apps">
        The app catalogue of this server is empty.
      </EmptyState>
    );
  }
  return (
    <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {apps.rows.map((app) => (
        <li className="panel flex flex-col gap-2 p-4" key={app.id}>
          <div className="flex items-start gap-2">
            <h2 className="min-w-0 grow truncate font-semibold">{app.name}</h2>
            <Status tone={app.connectable ? 'good' : 'warn'}>{app.connectable ? 'ready' : 'needs setup'}</Status>
          </div>
          <p className="line-clamp-2 text-quiet">{app.description}</p>
          <p className="text-sm">{needOf(app)}</p>
          <div className="mt-auto flex items-center gap-2 pt-1">
            <code className="min-w-0 grow truncate font-mono text-quiet text-xs">{app.id}</code>
            {app.sign_in && may('apps.putClient') && (
              <Button
                look={app.sign_in.client === 'missing' ? 'plain' : 'quiet'}
                onClick={() => giveClient(app.id)}
                shape="small"
              >
                {app.sign_in.client === 'org' ? 'Your OAuth client' : 'Use your OAuth client'}
              </Button>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function needOf({ sign_in, api_key }: App): string {
  const byKey = api_key ? ' A user’s API key also works.' : '';
  if (!sign_in) return api_key ? 'Users enter their own API key.' : 'No setup needed.';
  if (sign_in.client === 'missing') return `Users can sign in after you register an OAuth client.${byKey}`;
  if (sign_in.client === 'org') return `Users sign in with your OAuth client.${byKey}`;
  return `Users sign in; no setup needed.${byKey}`;
}

/** Connects an app for a user, by a sign-in link or with their API key. */
function ConnectApp({ apps, chosen, onClose }: { apps: readonly App[]; chosen: string; onClose: () => void }) {
  const [begun, setBegun] = useState<RouteAnswer<'connections.create'> | null>(null);
  const connectable = apps.filter((app) => app.connectable);
  if (begun?.connect_url) {
    return (
      <Dialog
        description="Send this link to the user. They sign in there with their own account."
        isOpen
        onClose={onClose}
        title="Sign-in link"
      >
        <div className="flex items-center gap-1 rounded-md border bg-muted p-2">
          <code className="min-w-0 grow break-all font-mono text-sm">{begun.connect_url}</code>
          <CopyButton label="Copy the link" text={begun.connect_url} />
        </div>
        <DialogActions>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <Dialog isOpen onClose={onClose} title="Connect an app">
      <ChangeForm
        initial={{
          app: connectable.some(({ id }) => id === chosen) ? chosen : (connectable[0]?.id ?? ''),
          user_id: '',
          api_key: '',
        }}
        onCancel={onClose}
        onDone={(connection) => {
          if (connection.connect_url) return setBegun(connection);
          say('Connected');
          onClose();
        }}
        row="connections.create"
        submit="Connect"
      >
        <SelectField label="App" name="app" options={connectable.map(({ id, name }) => [id, name] as const)} />
        <TextField label="User" name="user_id" placeholder="ada" />
        <KeyOfUser apps={connectable} />
      </ChangeForm>
    </Dialog>
  );
}

function KeyOfUser({ apps }: { apps: readonly App[] }) {
  const { values } = useForm();
  const app = apps.find(({ id }) => id === values.app);
  if (!app?.api_key) return null;
  return (
    <TextField
      autoComplete="new-password"
      hint={app.api_key.note}
      isMono
      label="API key of the user"
      name="api_key"
      type="password"
    />
  );
}

/** The org's OAuth client for an app, in the current mode. */
function AppClient({ app, onClose }: { app: App; onClose: () => void }) {
  const { mode } = useOrgAndMode();
  const { may } = useRole();
  const client = useOne('apps.getClient', { app: app.id }, { enabled: app.sign_in?.client === 'org' });
  const [isAsking, setIsAsking] = useState(false);
  const forget = useChange('apps.deleteClient', {
    onDone: () => {
      say('Client deleted');
      onClose();
    },
  });
  const isAway = client.error instanceof VestraError && client.error.code === 'app_client_not_found';
  const { sign_in } = app;
  if (!sign_in) return null;
  return (
    <Dialog
      description={`Users in ${mode} mode sign in to ${app.name} with it.`}
      isOpen
      onClose={onClose}
      title={`Your OAuth client for ${app.name}`}
      width="wide"
    >
      {client.isLoading && <Waiting />}
      {client.error && !isAway && <Fault className="mb-4" error={client.error} />}
      {client.data && sign_in.client === 'org' && (
        <div className="mb-5">
          <Facts
            rows={[
              ['Client', <Id key="client">{client.data.client_id}</Id>],
              ['Secret', client.data.has_secret ? 'stored, never shown' : 'none'],
              [
                'Issuer',
                <code className="break-all font-mono text-sm" key="issuer">
                  {client.data.issuer}
                </code>,
              ],
              ['Saved', <Time at={client.data.updated_at} key="at" />],
            ]}
          />
          <div className="mt-2 flex items-center gap-2">
            {isAsking ? (
              <>
                <span className="grow text-quiet text-sm">Existing connections work until their token expires.</span>
                <Button onClick={() => setIsAsking(false)}>Cancel</Button>
                <Button isBusy={forget.isRunning} look="danger" onClick={() => forget.run({ app: app.id })}>
                  {' '}
                  Delete{' '}
                </Button>
              </>
            ) : (
              <Button
                disabled={!may('apps.deleteClient')}
                look="danger-quiet"
                onClick={() => setIsAsking(true)}
                shape="small"
              >
                Delete this client
              </Button>
            )}
          </div>
          {forget.error && <Fault className="mt-2" error={forget.error} />}
        </div>
      )}
      <ol className="mb-4 list-decimal space-y-1 pl-5">
        <li>
          Register a client with {app.name}
          {sign_in.register_at && (
            <>
              {' at '}
              <a
                className="break-all text-accent underline underline-offset-2"
                href={sign_in.register_at}
                rel="noopener noreferrer"
                target="_blank"
              >
                {sign_in.register_at}
              </a>
            </>
          )}
          . {sign_in.note}
        </li>
        <li>
          Set this redirect URL there: <Id>{sign_in.redirect_uri}</Id>
        </li>
        <li>Enter the client id and secret here.</li>
      </ol>
      <ChangeForm
        fields={{ app: app.id }}
        initial={{ client_id: '', client_secret: '', auth_method: '' }}
        onCancel={onClose}
        onDone={() => {
          say(`Users now sign in to ${app.name} with your client`);
          onClose();
        }}
        row="apps.putClient"
        submit={sign_in.client === 'org' ? 'Replace client' : 'Use this client'}
      >
        <TextField autoComplete="off" isMono label="Client ID" name="client_id" />
        <TextField autoComplete="new-password" isMono label="Client secret" name="client_secret" type="password" />
        <SelectField
          label="Client authentication"
          name="auth_method"
          options={[
            ['', 'Automatic'],
            ['client_secret_basic', 'In the header (client_secret_basic)'],
            ['client_secret_post', 'In the body (client_secret_post)'],
            ['none', 'None'],
          ]}
        />
      </ChangeForm>
    </Dialog>
  );
}

type App = ItemOf<'apps.list'>;
