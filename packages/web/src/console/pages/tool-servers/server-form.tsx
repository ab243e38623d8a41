import type { RouteAnswer } from '../../data/rows.ts';
import { CheckField, FormDialog, TextField } from '../../parts/form.tsx';
import { ListField, linesOf } from '../../parts/list-field.tsx';

type Server = RouteAnswer<'mcpServers.get'>;

/** Registers or edits a tool server. */
export function ServerForm({
  server,
  onClose,
  onDone,
}: {
  server?: Server;
  onClose: () => void;
  onDone: (server: Server) => void;
}) {
  const initial = {
    name: server?.name ?? '',
    slug: '',
    url: server?.url ?? '',
    auth: server ? headersAsLines(server) : '',
    sampling: server?.sampling ?? false,
  };
  return (
    <FormDialog
      {...(server && { fields: { server_id: server.id } })}
      initial={initial}
      onClose={onClose}
      onDone={onDone}
      row={server ? 'mcpServers.update' : 'mcpServers.create'}
      send={({ name, slug, url, auth, sampling }) => ({
        name,
        ...(!server && { slug }),
        url,
        auth: authOf(auth),
        sampling,
      })}
      submit={server ? 'Save' : 'Register server'}
      title={server ? 'Edit tool server' : 'Register a tool server'}
    >
      <TextField label="Name" name="name" placeholder="CRM" />
      {!server && <TextField isMono label="Slug" name="slug" placeholder="crm" />}
      <TextField isMono label="URL" name="url" placeholder="https://crm.example.com/mcp" type="url" />
      <ListField
        hint={'One per line. Refer to credentials by secret name: Authorization: Bearer ${secret:CRM_TOKEN}'}
        label="Headers"
        name="auth"
        placeholder={'Authorization: Bearer ${secret:CRM_TOKEN}'}
      />
      <CheckField label="May use the agent’s model" name="sampling" />
    </FormDialog>
  );
}

const headersAsLines = ({ auth }: Server): string =>
  auth.type === 'none'
    ? ''
    : Object.entries(auth.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n');

/** A line without a colon becomes an empty header, so that the server reports the error. */
function authOf(text: unknown) {
  const headers = linesOf(text).map((line) => {
    const at = line.indexOf(':');
    return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return headers.length === 0 ? { type: 'none' } : { type: 'headers', headers: Object.fromEntries(headers) };
}
