import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOne } from '../../data/queries.ts';
import type { Answer, Request } from '../../data/rows.ts';
import { Id } from '../../parts/copy.tsx';
import { Loaded, Page } from '../../parts/page.tsx';
import { Status } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { DeploymentMenu } from './deployment-menu.tsx';

export type Deployment = Answer<'deployments.get'>;
export type DeploymentTab = 'file' | 'versions' | 'functions' | 'ratings';

/** What all parts of one deployment share: its name, where it stands, what can be done with it. */
export function DeploymentFrame({
  tab,
  request,
  children,
}: {
  tab: DeploymentTab;
  request?: Request;
  children: (deployment: Deployment) => ReactNode;
}) {
  const { deployment: deployment_id = '' } = useParams({ strict: false }) as { deployment?: string };
  const deployment = useOne('deployments.get', { deployment_id } as never);
  const found = deployment.data as Deployment | undefined;
  const at = `/deployments/${deployment_id}`;
  return (
    <Page
      above={{ to: '/deployments', title: 'Deployments' }}
      actions={found && <DeploymentMenu deployment={found} />}
      request={request ?? deployment.request}
      tabTitle={found?.name ?? 'Deployment'}
      title={
        <span className="flex flex-wrap items-center gap-2">
          {found?.name ?? '…'}
          {found?.status === 'archived' && <Status>archived</Status>}
          {found && <Status tone="accent">{`draft v${found.draft_version}`}</Status>}
          {found && found.live_version !== null && <Status tone="good">{`live v${found.live_version}`}</Status>}
        </span>
      }
    >
      {found && (
        <div className="-mt-3 mb-3 flex flex-wrap items-center gap-x-4 text-quiet text-sm">
          <Id>{found.id}</Id>
          {found.description && <span className="min-w-0 break-words">{found.description}</span>}
        </div>
      )}
      <Tabs
        chosen={tab}
        label="Sections"
        tabs={[
          { id: 'file', title: 'File', to: at },
          { id: 'versions', title: 'Versions', to: `${at}/versions` },
          { id: 'functions', title: 'Functions', to: `${at}/functions` },
          { id: 'ratings', title: 'Ratings', to: `${at}/ratings` },
        ]}
      />
      <Loaded query={{ ...deployment, data: found }}>{children}</Loaded>
    </Page>
  );
}
