import { VestraError } from '@vestra/sdk/errors';
import { useState } from 'react';
import { usePlace, useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ChangeForm, SelectField, TextField } from '../../parts/form.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, Waiting } from '../../parts/page.tsx';
import { Time } from '../../parts/shown.tsx';
import type { App } from './app.ts';

/** The OAuth client that the org registered with an app, for the mode of the address. */
export function AppClient({ app, onClose }: { app: App; onClose: () => void }) {
  const { mode } = usePlace();
  const { may } = useRole();
  const client = useOne('apps.getClient', { app: app.id }, { enabled: app.sign_in?.client === 'org' });
  const [isAsking, setIsAsking] = useState(false);
  const forget = useChange('apps.deleteClient', {
    onDone: () => {
      say('Client deleted');
      onClose();
    },
  });
  const isAway = client.error instanceof VestraError && client.error.code === 'app_client_not_found';
  const { sign_in } = app;
  if (!sign_in) return null;
  return (
    <Dialog
      description={`Users in ${mode} mode sign in to ${app.name} with it.`}
      isOpen
      onClose={onClose}
      title={`Your OAuth client for ${app.name}`}
      width="wide"
    >
      {client.isLoading && <Waiting />}
      {client.error && !isAway && <Fault className="mb-4" error={client.error} />}
      {client.data && sign_in.client === 'org' && (
        <div className="mb-5">
          <Facts
            rows={[
              ['Client', <Id key="client">{client.data.client_id}</Id>],
              ['Secret', client.data.has_secret ? 'stored, never shown' : 'none'],
              [
                'Issuer',
                <code className="break-all font-mono text-sm" key="issuer">
                  {client.data.issuer}
                </code>,
              ],
              ['Saved', <Time at={client.data.updated_at} key="at" />],
            ]}
          />
          <div className="mt-2 flex items-center gap-2">
            {isAsking ? (
              <>
                <span className="grow text-quiet text-sm">Existing connections work until their token expires.</span>
                <Button onClick={() => setIsAsking(false)}>Cancel</Button>
                <Button isBusy={forget.isRunning} look="danger" onClick={() => forget.run({ app: app.id })}>
                  {' '}
                  Delete{' '}
                </Button>
              </>
            ) : (
              <Button
                disabled={!may('apps.deleteClient')}
                look="danger-quiet"
                onClick={() => setIsAsking(true)}
                shape="small"
              >
                Delete this client
              </Button>
            )}
          </div>
          {forget.error && <Fault className="mt-2" error={forget.error} />}
        </div>
      )}
      <ol className="mb-4 list-decimal space-y-1 pl-5">
        <li>
          Register a client with {app.name}
          {sign_in.register_at && (
            <>
              {' at '}
              <a
                className="break-all underline underline-offset-2"
                href={sign_in.register_at}
                rel="noopener noreferrer"
                target="_blank"
              >
                {sign_in.register_at}
              </a>
            </>
          )}
          . {sign_in.note}
        </li>
        <li>
          Set this redirect URL there: <Id>{sign_in.redirect_uri}</Id>
        </li>
        <li>Enter the client id and secret here.</li>
      </ol>
      <ChangeForm
        fields={{ app: app.id }}
        initial={{ client_id: '', client_secret: '', auth_method: '' }}
        onCancel={onClose}
        onDone={() => {
          say(`Users now sign in to ${app.name} with your client`);
          onClose();
        }}
        row="apps.putClient"
        submit={sign_in.client === 'org' ? 'Replace client' : 'Use this client'}
      >
        <TextField autoComplete="off" isMono label="Client ID" name="client_id" />
        <TextField autoComplete="new-password" isMono label="Client secret" name="client_secret" type="password" />
        <SelectField
          label="Client authentication"
          name="auth_method"
          options={[
            ['', 'Automatic'],
            ['client_secret_basic', 'In the header (client_secret_basic)'],
            ['client_secret_post', 'In the body (client_secret_post)'],
            ['none', 'None'],
          ]}
        />
      </ChangeForm>
    </Dialog>
  );
}
