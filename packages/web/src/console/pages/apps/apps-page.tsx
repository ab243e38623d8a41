import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';

import { Button } from '../../parts/button.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Page, Waiting } from '../../parts/page.tsx';
import { Status } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import type { App } from './app.ts';
import { AppClient } from './app-client.tsx';
import { ConnectApp } from './connect-app.tsx';
import { Connections } from './connections.tsx';

export default function AppsPage() {
  const [{ show = 'catalogue' }] = useFilters('show');
  const apps = useList('apps.list', {}, { limit: 100 });
  const giving = useDialogInAddress('client');
  const connecting = useDialogInAddress('connect');
  const appOf = (id: string | null) => apps.rows.find((app) => app.id === id);
  const clientOf = appOf(giving.value);
  const isCatalogue = show !== 'connections';
  return (
    <Page
      actions={
        <Button look="primary" onClick={() => connecting.open()}>
          <Icon name="plus" /> Connect an app
        </Button>
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
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
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
