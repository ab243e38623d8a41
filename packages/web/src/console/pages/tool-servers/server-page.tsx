import { useParams } from '@tanstack/react-router';
import { useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { Answer, Request } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { Icon } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, LoadedPage, Page, Section } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { Time } from '../../parts/shown.tsx';
import { ServerForm } from './server-form.tsx';
import { ToolMatrix } from './tool-matrix.tsx';

export default function ServerPage() {
  const { server: server_id } = useParams({ strict: false }) as { server: string };
  const server = useOne('mcpServers.get', { server_id });
  return (
    <LoadedPage above={{ to: '/tool-servers', title: 'Tool servers' }} query={server} title="Tool server">
      {(found) => <Shown request={server.request} server={found} />}
    </LoadedPage>
  );
}

function Shown({ server, request }: { server: Answer<'mcpServers.get'>; request: Request }) {
  const { may } = useRole();
  const go = useGo();
  const editing = useDialogInAddress('edit');
  const deleting = useDialogInAddress('delete');
  const remove = useChange('mcpServers.delete', {
    onDone: () => {
      say('Server deleted');
      go('/tool-servers');
    },
  });
  const secretLinks = [...server.secrets, ...server.user_secrets].map((name) => (
    <PageLink className="mr-2 font-mono text-sm underline underline-offset-2" key={name} to="/secrets">
      {name}
    </PageLink>
  ));
  return (
    <Page
      above={{ to: '/tool-servers', title: 'Tool servers' }}
      actions={
        <>
          <Button disabled={!may('mcpServers.update')} onClick={() => editing.open()}>
            {' '}
            Edit{' '}
          </Button>
          <Button
            aria-label="Delete this server"
            disabled={!may('mcpServers.delete')}
            look="danger-quiet"
            onClick={() => deleting.open()}
            shape="icon"
          >
            <Icon name="trash" />
          </Button>
        </>
      }
      request={request}
      title={server.name}
    >
      <Section title="Connection">
        <Facts
          rows={[
            ['Id', <Id key="id">{server.id}</Id>],
            [
              'Slug',
              <code className="font-mono" key="slug">
                {server.slug}
              </code>,
            ],
            [
              'URL',
              <code className="break-all font-mono" key="url">
                {server.url}
              </code>,
            ],
            [
              'Headers',
              server.auth.type === 'none' ? (
                'none'
              ) : (
                <code className="break-all font-mono" key="auth">
                  {Object.keys(server.auth.headers).join(', ')}
                </code>
              ),
            ],
            ['Secrets', secretLinks.length === 0 ? 'none' : secretLinks],
            ['Uses the agent’s model', server.sampling ? 'while a tool runs, charged to the user' : 'no'],
            ['Updated', <Time at={server.updated_at} key="changed" />],
          ]}
        />
      </Section>
      <ToolMatrix server={server} />
      {editing.value && (
        <ServerForm
          onClose={editing.close}
          onDone={() => {
            say('Saved for all deployments');
            editing.close();
          }}
          server={server}
        />
      )}
      <ConfirmDialog
        act="Delete server"
        error={remove.error}
        isOpen={deleting.value !== null}
        isRunning={remove.isRunning}
        loses={
          <>
            Agents lose the tools of <strong className="break-all text-foreground">{server.name}</strong>. This fails
            while a live version uses it.
          </>
        }
        onClose={deleting.close}
        request={remove.requestOf({ server_id: server.id })}
        run={() => remove.run({ server_id: server.id })}
        title="Delete this server?"
        typed={server.slug}
      />
    </Page>
  );
}
