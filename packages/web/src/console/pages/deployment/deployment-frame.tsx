import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { Request, RouteAnswer, RowName } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { AreaField, FormDialog, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Menu } from '../../parts/menu.tsx';
import { say } from '../../parts/notices.tsx';
import { Loaded, Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { Status } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { NextSteps } from './next-steps.tsx';

export type Deployment = RouteAnswer<'deployments.get'>;
export type DeploymentTab = 'file' | 'versions' | 'functions' | 'ratings' | 'insights';

/** The frame of all tabs of a deployment: name, versions and actions. */
export function DeploymentFrame({
  tab,
  request,
  isWide = false,
  children,
}: {
  tab: DeploymentTab;
  request?: Request;
  isWide?: boolean;
  children: (deployment: Deployment) => ReactNode;
}) {
  const { deployment: deployment_id = '' } = useParams({ strict: false }) as { deployment?: string };
  const deployment = useOne('deployments.get', { deployment_id } as never);
  const found = deployment.data as Deployment | undefined;
  const at = `/deployments/${deployment_id}`;
  return (
    <Page
      above={{ to: '/deployments', title: 'Deployments' }}
      actions={
        found && (
          <>
            <NextSteps deployment={found} />
            <DeploymentMenu deployment={found} />
          </>
        )
      }
      isWide={isWide}
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
          { id: 'insights', title: 'Insights', to: `${at}/insights` },
        ]}
      />
      <Loaded query={{ ...deployment, data: found }}>{children}</Loaded>
    </Page>
  );
}

/** The actions menu of a deployment. */
function DeploymentMenu({ deployment }: { deployment: RouteAnswer<'deployments.get'> }) {
  const { id: deployment_id, name, slug, status, live_version } = deployment;
  const { may } = useRole();
  const { mode } = useOrgAndMode();
  const go = useGo();
  const renaming = useDialogInAddress('rename');
  const [asked, setAsked] = useState<'archive' | 'delete' | 'rollback' | null>(null);
  const close = () => setAsked(null);
  const unarchive = useChange('deployments.unarchive', { onDone: () => say('Unarchived') });
  const isOff = (row: RowName) => !may(row);
  return (
    <>
      <Menu
        items={[
          {
            label: 'Name and description',
            icon: 'settings',
            run: () => renaming.open(),
            isOff: isOff('deployments.update'),
          },
          {
            label: 'Roll back',
            icon: 'back',
            note: mode === 'test' ? 'live mode only' : undefined,
            run: () => setAsked('rollback'),
            isOff: isOff('deployments.rollback') || mode === 'test' || live_version === null,
          } as never,
          status === 'archived'
            ? {
                label: 'Unarchive',
                icon: 'refresh',
                run: () => unarchive.run({ deployment_id }),
                isOff: isOff('deployments.unarchive'),
              }
            : { label: 'Archive', icon: 'batch', run: () => setAsked('archive'), isOff: isOff('deployments.archive') },
          'line',
          {
            label: 'Delete',
            icon: 'trash',
            isDanger: true,
            run: () => setAsked('delete'),
            isOff: isOff('deployments.delete'),
          },
        ]}
      >
        <Button aria-label={`Actions for ${name}`} shape="icon">
          <Icon name="more" />
        </Button>
      </Menu>
      {renaming.value && (
        <FormDialog
          fields={{ deployment_id }}
          initial={{ name, description: deployment.description }}
          onClose={renaming.close}
          row="deployments.update"
          send={(values) => values}
          submit="Save"
          title="Name and description"
        >
          <TextField label="Name" name="name" />
          <AreaField label="Description" name="description" />
        </FormDialog>
      )}
      {asked === 'archive' && (
        <ConfirmChange
          act="Archive"
          fields={{ deployment_id }}
          loses="It accepts no new conversations or versions, its routines stop, and API requests that name it are rejected. Nothing is deleted, and you can unarchive it."
          onClose={close}
          onDone={() => {
            close();
            say('Archived', () => unarchive.run({ deployment_id }));
          }}
          row="deployments.archive"
          title={`Archive ${name}?`}
        />
      )}
      {asked === 'rollback' && (
        <ConfirmChange
          act="Roll back"
          fields={{ deployment_id }}
          loses={`The previous live version replaces version ${live_version} immediately. Version ${live_version} is kept and can be promoted again.`}
          onClose={close}
          onDone={({ live_version: now }) => {
            close();
            say(`Version ${now} is live again`);
          }}
          row="deployments.rollback"
          title={`Roll back ${name}?`}
        />
      )}
      {asked === 'delete' && (
        <ConfirmChange
          act="Delete permanently"
          fields={{ deployment_id }}
          loses="All its versions, scenarios and test runs are deleted permanently. Conversations and their costs are kept. A deployment with a live version cannot be deleted: archive it instead."
          onClose={close}
          onDone={() => go('/deployments')}
          row="deployments.delete"
          title={`Delete ${name}?`}
          typed={slug}
        />
      )}
    </>
  );
}
