import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Id } from '../../parts/copy.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { useFilters } from '../../parts/filters.tsx';
import { ChangeForm, CheckField, SelectField, TextField, useForm } from '../../parts/form.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { ModelFallbacks, Models } from './models.tsx';
import { PagesAndEmbedding } from './pages-and-embedding.tsx';
import { SignIn } from './sign-in.tsx';

type Org = RouteAnswer<'orgs.get'>;

const parts = [
  ['general', 'General'],
  ['pages', 'Pages and embedding'],
  ['memory', 'Memory'],
  ['traces', 'Traces'],
  ['models', 'Models'],
  ['sign-in', 'Sign-in'],
] as const;

export default function SettingsPage() {
  const org = useOne('orgs.get', {});
  const [{ part = 'general' }] = useFilters('part');
  return (
    <Page lead="Settings for all deployments in this mode." request={org.request} title="Org settings">
      <Tabs
        chosen={part}
        label="Sections"
        tabs={parts.map(([id, title]) => ({
          id,
          title,
          to: '/settings',
          ...(id !== 'general' && { search: { part: id } }),
        }))}
      />
      <Loaded query={org}>
        {(found) =>
          part === 'models' ? (
            <>
              <Models />
              <div className="panel mt-6 max-w-2xl p-4">
                <ModelFallbacks org={found} />
              </div>
            </>
          ) : part === 'sign-in' ? (
            <SignIn />
          ) : part === 'pages' ? (
            <PagesAndEmbedding org={found} />
          ) : part === 'memory' ? (
            <Memory org={found} />
          ) : part === 'traces' ? (
            <Traces org={found} />
          ) : (
            <General org={found} />
          )
        }
      </Loaded>
    </Page>
  );
}

const saved = () => say('Saved');
const cleared = (value: unknown) => (value === '' ? null : value);

function General({ org }: { org: Org }) {
  return (
    <div className="grid items-start gap-6 *:min-w-0 lg:grid-cols-2">
      <div className="panel p-4">
        <ChangeForm
          initial={{
            name: org.name,
            default_deployment: org.default_deployment ?? '',
            require_user: org.require_user,
            improvement_conversations: org.improvement_conversations,
          }}
          onDone={saved}
          row="orgs.update"
          send={({ name, default_deployment, require_user, improvement_conversations }) => ({
            name,
            improvement_conversations,
            default_deployment: cleared(default_deployment),
            require_user,
          })}
          submit="Save"
        >
          <TextField label="Name" name="name" />
          <TextField label="Default deployment" name="default_deployment" />
          <CheckField label="Require a user for every conversation" name="require_user" />
          <SelectField
            hint="Insights quote these conversations, and improvements read them."
            label="Conversations for insights and improvements"
            name="improvement_conversations"
            options={[
              ['all', 'All'],
              ['rated', 'Only rated ones'],
              ['none', 'None'],
            ]}
          />
        </ChangeForm>
      </div>
      <Facts
        rows={[
          ['Id', <Id key="id">{org.id}</Id>],
          ['Status', <Status key="state">{org.status}</Status>],
          [
            'Mode',
            <Status key="mode" tone={org.mode === 'live' ? 'good' : 'warn'}>
              {org.mode}
            </Status>,
          ],
          ['Created', <Time at={org.created_at} key="since" />],
        ]}
      />
    </div>
  );
}

function Memory({ org }: { org: Org }) {
  const { may } = useRole();
  const rolling = useDialogInAddress('roll');
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <div className="panel max-w-2xl p-4">
      <ChangeForm
        initial={{
          memory_mode: org.memory_mode,
          memory_endpoint: org.memory_endpoint ?? '',
          memory_panel: org.memory_panel,
        }}
        onDone={saved}
        row="orgs.update"
        send={({ memory_mode, memory_endpoint, memory_panel }) => ({
          memory_mode,
          memory_endpoint: cleared(memory_endpoint),
          memory_panel,
        })}
        submit="Save"
      >
        <SelectField
          hint="Where facts about users are stored. “Your endpoint” keeps them in your system."
          label="Memory storage"
          name="memory_mode"
          options={[
            ['vestra', 'This server'],
            ['customer', 'Your endpoint'],
            ['none', 'None'],
          ]}
        />
        <MemoryEndpoint />
        <CheckField label="Show users their memory" name="memory_panel" />
      </ChangeForm>
      {org.memory_endpoint && (
        <div className="mt-4 flex items-center gap-3 border-t pt-4">
          <p className="grow text-quiet text-sm">Requests to your endpoint are signed.</p>
          <Button disabled={!may('orgs.rollMemorySecret')} onClick={() => rolling.open()}>
            Roll secret
          </Button>
        </div>
      )}
      {rolling.value && (
        <ConfirmChange
          act="Roll secret"
          fields={{}}
          loses="Requests are signed with both secrets for 24 hours, then only with the new one."
          onClose={rolling.close}
          onDone={(answer) => {
            rolling.close();
            setSecret(answer.secret);
          }}
          row="orgs.rollMemorySecret"
          title="Roll the secret of your memory endpoint?"
        />
      )}
      {secret !== null && (
        <SecretOnce onClose={() => setSecret(null)} secret={secret} title="Signing secret of your memory endpoint" />
      )}
    </div>
  );
}

function MemoryEndpoint() {
  const { values } = useForm();
  if (values.memory_mode !== 'customer' && values.memory_endpoint === '') return null;
  return (
    <TextField
      isMono
      label="Memory endpoint"
      name="memory_endpoint"
      placeholder="https://example.com/memory"
      type="url"
    />
  );
}

function Traces({ org }: { org: Org }) {
  return (
    <div className="panel max-w-2xl p-4">
      <ChangeForm
        initial={{
          otlp_endpoint: org.otlp_endpoint ?? '',
          otlp_headers_secret: org.otlp_headers_secret ?? '',
          otlp_content: org.otlp_content,
        }}
        onDone={saved}
        row="orgs.update"
        send={({ otlp_endpoint, otlp_headers_secret, otlp_content }) => ({
          otlp_endpoint: cleared(otlp_endpoint),
          otlp_headers_secret: cleared(otlp_headers_secret),
          otlp_content,
        })}
        submit="Save"
      >
        <TextField
          isMono
          label="OTLP endpoint"
          name="otlp_endpoint"
          placeholder="https://otel.example.com/v1/traces"
          type="url"
        />
        <TextField isMono label="Headers secret" name="otlp_headers_secret" placeholder="OTLP_HEADERS" />
        <CheckField label="Include message content" name="otlp_content" />
      </ChangeForm>
    </div>
  );
}
