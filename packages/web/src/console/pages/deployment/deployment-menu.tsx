import { useState } from 'react';
import { usePlace, useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { Answer, RowName } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { AreaField, ChangeForm, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Menu } from '../../parts/menu.tsx';
import { say } from '../../parts/notices.tsx';
import { useGo } from '../../parts/page-link.tsx';

/** Rename, roll back, archive and bring back, delete. */
export function DeploymentMenu({ deployment }: { deployment: Answer<'deployments.get'> }) {
  const { id: deployment_id, name, slug, status, live_version } = deployment;
  const { may } = useRole();
  const { mode } = usePlace();
  const go = useGo();
  const renaming = useDialogInAddress('rename');
  const [asked, setAsked] = useState<'archive' | 'delete' | 'rollback' | null>(null);
  const close = () => setAsked(null);
  const unarchive = useChange('deployments.unarchive', { onDone: () => say('Brought back') });
  const archive = useChange('deployments.archive', {
    onDone: () => {
      close();
      say('Archived', () => unarchive.run({ deployment_id }));
    },
  });
  const remove = useChange('deployments.delete', { onDone: () => go('/deployments') });
  const rollback = useChange('deployments.rollback', {
    onDone: ({ live_version: now }) => {
      close();
      say(`Version ${now} is live again`);
    },
  });
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
            note: mode === 'test' ? 'in live mode' : undefined,
            run: () => setAsked('rollback'),
            isOff: isOff('deployments.rollback') || mode === 'test' || live_version === null,
          } as never,
          status === 'archived'
            ? {
                label: 'Bring back',
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
        <Button aria-label={`What can be done with ${name}`} shape="icon">
          <Icon name="more" />
        </Button>
      </Menu>
      <Dialog isOpen={renaming.value !== null} onClose={renaming.close} title="Name and description">
        <ChangeForm
          fields={{ deployment_id }}
          initial={{ name, description: deployment.description }}
          onCancel={renaming.close}
          onDone={renaming.close}
          row="deployments.update"
          send={(values) => values}
          submit="Save"
        >
          <TextField label="Name" name="name" />
          <AreaField label="Description" name="description" />
        </ChangeForm>
      </Dialog>
      <ConfirmDialog
        act="Archive"
        error={archive.error}
        isOpen={asked === 'archive'}
        isRunning={archive.isRunning}
        loses="No new conversation or version reaches it, its routines stop, and programs that name it are refused. Nothing is deleted, and it can be brought back."
        onClose={close}
        request={archive.requestOf({ deployment_id })}
        run={() => archive.run({ deployment_id })}
        title={`Archive ${name}?`}
      />
      <ConfirmDialog
        act="Roll back"
        error={rollback.error}
        isOpen={asked === 'rollback'}
        isRunning={rollback.isRunning}
        loses={`Live users get the version that was live before version ${live_version}, at once. Version ${live_version} stays and can be promoted again.`}
        onClose={close}
        request={rollback.requestOf({ deployment_id })}
        run={() => rollback.run({ deployment_id })}
        title={`Roll ${name} back?`}
      />
      <ConfirmDialog
        act="Delete for ever"
        error={remove.error}
        isOpen={asked === 'delete'}
        isRunning={remove.isRunning}
        loses="All its versions, scenarios and test runs are gone, and nothing brings them back. Conversations and their costs stay. A deployment with a live version cannot be deleted: archive it."
        onClose={close}
        request={remove.requestOf({ deployment_id })}
        run={() => remove.run({ deployment_id })}
        title={`Delete ${name}?`}
        typed={slug}
      />
    </>
  );
}
