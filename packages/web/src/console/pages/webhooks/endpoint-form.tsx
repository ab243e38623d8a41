import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import type { RouteAnswer } from '../../data/rows.ts';
import { CheckField, ChoicesField, FormDialog, SelectField, TextField, useForm } from '../../parts/form.tsx';

type Endpoint = RouteAnswer<'webhooks.get'>;

/** Creates or edits an endpoint. */
export function EndpointForm({
  endpoint,
  onClose,
  onDone,
}: {
  endpoint?: Endpoint;
  onClose: () => void;
  onDone: (endpoint: Endpoint | RouteAnswer<'webhooks.create'>) => void;
}) {
  const isAll = !endpoint || endpoint.events[0] === '*';
  const initial = {
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    which: isAll ? 'all' : 'some',
    events: isAll ? ['task.completed', 'task.failed'] : endpoint.events,
    active: endpoint?.active ?? true,
  };
  const send = ({ which, events, url, description, active }: Record<string, unknown>) => ({
    url,
    description,
    active,
    events: which === 'all' ? ['*'] : events,
  });
  return (
    <FormDialog
      {...(endpoint && { fields: { endpoint_id: endpoint.id } })}
      initial={initial}
      onClose={onClose}
      onDone={onDone}
      row={endpoint ? 'webhooks.update' : 'webhooks.create'}
      send={send}
      submit={endpoint ? 'Save' : 'Add endpoint'}
      title={endpoint ? 'Edit endpoint' : 'Add an endpoint'}
    >
      <TextField isMono label="URL" name="url" placeholder="https://example.com/vestra" type="url" />
      <TextField label="Description" name="description" />
      <SelectField
        hint="Events of this mode. The other mode has separate endpoints."
        label="Events"
        name="which"
        options={[
          ['all', 'All events'],
          ['some', 'Selected events'],
        ]}
      />
      <ChosenEvents />
      <CheckField label="Active" name="active" />
    </FormDialog>
  );
}

function ChosenEvents() {
  const { values } = useForm();
  if (values.which !== 'some') return null;
  return (
    <ChoicesField label="Event types" name="events" options={webhookEventTypes.map((type) => [type, type] as const)} />
  );
}
