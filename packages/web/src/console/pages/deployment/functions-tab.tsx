import { useState } from 'react';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useOne } from '../../data/queries.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { detailsOf, Fault } from '../../parts/fault.tsx';
import { FormDialog, TextField } from '../../parts/form.tsx';
import { Facts, Loaded, Section, Waiting } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Status, Time } from '../../parts/shown.tsx';
import { DeploymentFrame } from './deployment-frame.tsx';

export default function FunctionsTab() {
  const { mode } = useOrgAndMode();
  return (
    <DeploymentFrame tab="functions">
      {({ id, live_version }) => {
        // Its functions are those of the live version, and asking for them is refused.
        const isNotLive = mode === 'live' && live_version === null;
        return (
          <>
            {isNotLive ? <NothingLive deploymentId={id} /> : <Declared deploymentId={id} />}
            <Endpoint deploymentId={id} isNotLive={isNotLive} />
          </>
        );
      }}
    </DeploymentFrame>
  );
}

const NothingLive = ({ deploymentId }: { deploymentId: string }) => (
  <Section title="Functions">
    <EmptyState
      action={
        <PageLink className={buttonLook('plain')} to={`/deployments/${deploymentId}/versions`}>
          Versions
        </PageLink>
      }
      icon="code"
      title="No version is live yet"
    >
      The functions of the live version appear here. You can set their endpoint before you make a version live.
    </EmptyState>
  </Section>
);

/** The functions that the version declares. */
function Declared({ deploymentId }: { deploymentId: string }) {
  const functions = useOne('functions.list', { deployment_id: deploymentId });
  return (
    <Section actions={<RequestMenu request={functions.request} />} title="Functions">
      <Loaded query={functions}>
        {({ data, version }) =>
          data.length === 0 ? (
            <EmptyState
              example={{
                label: 'In the deployment file:',
                code: 'tools:\n  - function: find_order\n    description: Finds an order by its number.\n    input: { number: string }\n    read_only: true',
              }}
              icon="code"
              title={`Version ${version} declares no functions`}
            >
              A function is a tool that your code runs. Your program polls for calls, or Vestra sends them to an HTTPS
              endpoint.
            </EmptyState>
          ) : (
            <ul className="panel divide-y">
              {data.map((each) => (
                <li className="px-3 py-2" key={each.name}>
                  <div className="flex flex-wrap items-center gap-2">
                    <code className="font-medium font-mono">{each.name}</code>
                    {each.read_only && <Status>read only</Status>}
                    {each.run_without_asking && <Status>no approval</Status>}
                    <span className="ml-auto text-quiet text-sm">Timeout {each.timeout_s} s</span>
                  </div>
                  <p className="text-quiet">{each.description}</p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function Endpoint({ deploymentId: deployment_id, isNotLive }: { deploymentId: string; isNotLive: boolean }) {
  const { may } = useRole();
  const { mode } = useOrgAndMode();
  const functions = useOne('functions.list', { deployment_id }, { enabled: !isNotLive });
  const [isLookedUp, setIsLookedUp] = useState(false);
  // Without an endpoint, asking for it is a 404 in the browser's log.
  const isKnownNone = functions.data?.has_endpoint === false;
  const enabled = isLookedUp || functions.error !== null || functions.data?.has_endpoint === true;
  const endpoint = useOne('functions.endpoint', { deployment_id }, { enabled });
  const [asked, setAsked] = useState<'set' | 'delete' | 'roll' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => setAsked(null);
  const isNone = isKnownNone || (endpoint.error !== null && detailsOf(endpoint.error).status === 404);
  return (
    <Section
      actions={
        may('functions.setEndpoint') && (
          <Button onClick={() => setAsked('set')} shape="small">
            {endpoint.data && !isNone ? 'Change endpoint' : 'Add endpoint'}
          </Button>
        )
      }
      title={`Endpoint in ${mode} mode`}
    >
      {isNotLive && !isLookedUp ? (
        <Button onClick={() => setIsLookedUp(true)} shape="small">
          Show the endpoint, if there is one
        </Button>
      ) : isNone ? (
        <p className="text-quiet">
          None. Calls stay pending until a program polls for them or someone answers them in the inbox.
        </p>
      ) : endpoint.error ? (
        <Fault error={endpoint.error} retry={() => void endpoint.refetch()} />
      ) : endpoint.data ? (
        <>
          <Facts
            rows={[
              [
                'URL',
                <code className="break-all font-mono text-sm" key="url">
                  {endpoint.data.url}
                </code>,
              ],
              ['Last failure', endpoint.data.last_failure && `${endpoint.data.last_failure.message}`],
              ['Changed', <Time at={endpoint.data.updated_at} key="at" />],
            ]}
          />
          <div className="mt-2 flex gap-2">
            {may('functions.rollEndpointSecret') && (
              <Button onClick={() => setAsked('roll')} shape="small">
                Roll secret
              </Button>
            )}
            {may('functions.deleteEndpoint') && (
              <Button look="danger-quiet" onClick={() => setAsked('delete')} shape="small">
                Remove
              </Button>
            )}
          </div>
        </>
      ) : (
        <Waiting />
      )}
      {asked === 'set' && (
        <FormDialog
          fields={{ deployment_id }}
          initial={{ url: endpoint.data?.url ?? '' }}
          onClose={close}
          onDone={(answer) => {
            close();
            setIsLookedUp(true);
            setSecret(answer.secret ?? null);
          }}
          row="functions.setEndpoint"
          submit="Save"
          title="Function endpoint"
        >
          <TextField label="URL" name="url" placeholder="https://example.com/vestra/functions" type="url" />
        </FormDialog>
      )}
      {asked === 'roll' && (
        <ConfirmChange
          act="Roll secret"
          fields={{ deployment_id }}
          loses="Calls are signed with a new secret. The old secret stays valid for 24 hours."
          onClose={close}
          onDone={(answer) => {
            close();
            setSecret(answer.secret);
          }}
          row="functions.rollEndpointSecret"
          title="Roll the signing secret?"
        />
      )}
      {asked === 'delete' && (
        <ConfirmChange
          act="Remove endpoint"
          fields={{ deployment_id }}
          loses="Vestra stops sending calls to it, and its signing secret is deleted. Calls stay pending until a program polls for them."
          onClose={close}
          row="functions.deleteEndpoint"
          title="Remove this endpoint?"
        />
      )}
      {secret !== null && <SecretOnce onClose={() => setSecret(null)} secret={secret} title="Signing secret" />}
    </Section>
  );
}
