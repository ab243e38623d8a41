import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { Time } from '../../parts/shown.tsx';
import { ServerForm } from './server-form.tsx';

const columns: Column<ItemOf<'mcpServers.list'>>[] = [
  { id: 'name', header: 'Server', cell: ({ name }) => name },
  {
    id: 'url',
    header: 'URL',
    width: '2fr',
    isWideOnly: true,
    cell: ({ url }) => <code className="font-mono text-quiet text-sm">{url}</code>,
  },
  {
    id: 'policy',
    header: 'Tool policy',
    width: '12rem',
    isWideOnly: true,
    cell: ({ tools: { deny, require_approval } }) => (
      <span className="text-quiet">
        {deny.length} denied, {require_approval.length} need approval
      </span>
    ),
  },
  { id: 'changed', header: 'Updated', width: '6.5rem', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

export default function ToolServersPage() {
  const servers = useList('mcpServers.list', {});
  const { may } = useRole();
  const creating = useDialogInAddress('new');
  const go = useGo();
  const register = may('mcpServers.create') && (
    <Button look="primary" onClick={() => creating.open()}>
      <Icon name="plus" /> Register server
    </Button>
  );
  return (
    <Page
      actions={register}
      lead="MCP servers with tools that agents may call. Tools denied or requiring approval here are restricted in every deployment that uses the server."
      request={servers.request}
      title="Tool servers"
    >
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            action={register}
            example={{
              label: 'A deployment file can register a server:',
              code: 'tools:\n  - mcp: https://crm.example.com/mcp\n    auth: ${CRM_TOKEN}',
            }}
            icon="server"
            title="No tool servers yet"
          >
            Register a server by its URL, then check it to list its tools.
          </EmptyState>
        }
        label="Tool servers"
        linkOf={({ id }) => `/tool-servers/${id}`}
        list={servers}
      />
      {creating.value && <ServerForm onClose={creating.close} onDone={({ id }) => go(`/tool-servers/${id}`)} />}
    </Page>
  );
}
