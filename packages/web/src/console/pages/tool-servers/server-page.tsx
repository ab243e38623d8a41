import { useParams } from '@tanstack/react-router';
import { useOne } from '../../data/queries.ts';
import type { Request, RouteAnswer } from '../../data/rows.ts';
import { Id } from '../../parts/copy.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, LoadedPage, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
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

function Shown({ server, request }: { server: RouteAnswer<'mcpServers.get'>; request: Request }) {
  const secretLinks = [...server.secrets, ...server.user_secrets].map((name) => (
    <PageLink className="mr-2 font-mono text-sm text-accent underline underline-offset-2" key={name} to="/secrets">
      {name}
    </PageLink>
  ));
  return (
    <ResourcePage
      above={{ to: '/tool-servers', title: 'Tool servers' }}
      edit={{
        row: 'mcpServers.update',
        form: (close) => (
          <ServerForm
            onClose={close}
            onDone={() => {
              say('Saved for all deployments');
              close();
            }}
            server={server}
          />
        ),
      }}
      remove={{
        row: 'mcpServers.delete',
        fields: { server_id: server.id },
        noun: 'server',
        loses: (
          <>
            Agents lose the tools of <strong className="break-all text-foreground">{server.name}</strong>. This fails
            while a live version uses it.
          </>
        ),
        typed: server.slug,
      }}
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
    </ResourcePage>
  );
}
