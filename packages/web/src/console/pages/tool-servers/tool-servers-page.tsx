import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
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
  const go = useGo();
  return (
    <ResourceList
      columns={columns}
      create={{
        label: 'Register server',
        row: 'mcpServers.create',
        dialog: (close) => <ServerForm onClose={close} onDone={({ id }) => go(`/tool-servers/${id}`)} />,
      }}
      empty={{
        icon: 'server',
        title: 'No tool servers yet',
        text: 'Register a server by its URL, then check it to list its tools.',
        example: {
          label: 'A deployment file can register a server:',
          code: 'tools:\n  - mcp: https://crm.example.com/mcp\n    auth: ${CRM_TOKEN}',
        },
      }}
      lead="MCP servers with tools that agents may call. Tools denied or requiring approval here are restricted in every deployment that uses the server."
      linkOf={({ id }) => `/tool-servers/${id}`}
      list={servers}
      title="Tool servers"
    />
  );
}
