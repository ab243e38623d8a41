import { useState } from 'react';
import { companySignIn } from '../../access/company-sign-in.ts';
import { serverUrl } from '../../address.ts';
import { usePlace, useRole } from '../../data/api.ts';
import { useChange, useOne } from '../../data/queries.ts';
import type { Answer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { detailsOf, Fault } from '../../parts/fault.tsx';
import { ChangeForm, CheckField, SelectField, TextField, useForm } from '../../parts/form.tsx';
import { ListField, linesOf } from '../../parts/list-field.tsx';
import { say } from '../../parts/notices.tsx';
import { Facts, Loaded, Section } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Time } from '../../parts/shown.tsx';
import { useLinking } from '../account/company-account.tsx';

type Provider = Answer<'identityProvider.get'>;

/** The company's own sign-in. It is the org's, in both modes, and an owner's to change. */
export function SignIn() {
  const { may } = useRole();
  const provider = useOne('identityProvider.get', {});
  const isNone = provider.error !== null && detailsOf(provider.error).code === 'identity_provider_not_found';
  const found = isNone ? null : provider.data;
  const [saves, setSaves] = useState(0);
  const saved = async () => {
    say('Saved: the provider was asked and answered');
    await provider.refetch();
    setSaves((before) => before + 1);
  };
  return (
    <>
      <div className="mb-3 flex items-center gap-2">
        <p className="grow text-quiet">
          Members sign in with the company’s own accounts, at any provider that speaks OpenID Connect. It holds in both
          modes.
        </p>
        <RequestMenu request={provider.request} />
      </div>
      <Loaded query={{ ...provider, data: found }}>
        {(set) => (
          <div className="grid items-start gap-6 *:min-w-0 lg:grid-cols-2">
            {may('identityProvider.set') ? (
              // Another form once it is saved: the secret that was typed is gone from it.
              <ProviderForm key={`${saves} ${set === null}`} onDone={() => void saved()} set={set} />
            ) : (
              <Settings set={set} />
            )}
            <div>
              <Addresses set={set} />
              {set && <TryIt />}
              {set && may('identityProvider.remove') && <Remove />}
            </div>
          </div>
        )}
      </Loaded>
    </>
  );
}

const roles = [
  ['', 'Nobody: only invited people come in'],
  ['developer', 'Developer'],
  ['admin', 'Admin'],
  ['owner', 'Owner'],
] as const;

function ProviderForm({ set, onDone }: { set: Provider | null; onDone: () => void }) {
  const isOther = ({ issuer, client_id }: Record<string, unknown>) =>
    set !== null && (issuer !== set.issuer || client_id !== set.client_id);
  return (
    <div className="panel p-4">
      <ChangeForm
        confirm={(values) =>
          isOther(values)
            ? {
                title: 'Change to another provider?',
                act: 'Change it',
                loses:
                  'Every link that members have with the provider of now is forgotten, and whoever it signed in is signed out. Members with a password link their account anew; the others are found again by their email.',
              }
            : null
        }
        initial={{
          issuer: set?.issuer ?? '',
          client_id: set?.client_id ?? '',
          client_secret: '',
          has_no_secret: false,
          allowed_domains: set?.allowed_domains.join('\n') ?? '',
          default_role: set?.default_role ?? '',
          role_claim: set?.role_claim ?? '',
          roles_by_claim: Object.entries(set?.roles_by_claim ?? {})
            .map(([value, role]) => `${value} = ${role}`)
            .join('\n'),
          password_sign_in: set?.password_sign_in ?? true,
        }}
        onDone={onDone}
        row="identityProvider.set"
        send={({
          has_no_secret,
          client_secret,
          allowed_domains,
          default_role,
          role_claim,
          roles_by_claim,
          ...rest
        }) => ({
          ...rest,
          ...(has_no_secret ? { client_secret: null } : client_secret !== '' && { client_secret }),
          allowed_domains: linesOf(allowed_domains),
          default_role: default_role === '' ? null : default_role,
          role_claim: role_claim === '' ? null : role_claim,
          roles_by_claim: Object.fromEntries(linesOf(roles_by_claim).map(roleOfLine)),
        })}
        submit={set ? 'Save' : 'Set up the sign-in'}
        touches={['consoleAccount']}
      >
        <TextField isMono label="Issuer" name="issuer" placeholder="https://accounts.google.com" type="url" />
        <TextField isMono label="Client id" name="client_id" />
        <ClientSecret isKept={set?.has_client_secret ?? false} isOther={isOther} />
        <ListField label="Allowed domains" name="allowed_domains" placeholder="example.com" rows={2} />
        <SelectField label="Role of new members" name="default_role" options={roles} />
        <TextField isMono label="Claim with the role" name="role_claim" placeholder="groups" />
        <RolesByClaim />
        <CheckField label="Passwords still open the console" name="password_sign_in" />
      </ChangeForm>
    </div>
  );
}

/** `value = role`. A line without a role is sent as it is: the server says what is wrong with it. */
function roleOfLine(line: string): [string, string] {
  const [, value, role] = /^(.*\S)\s*=\s*(\w+)$/.exec(line) ?? [];
  return value && role ? [value, role] : [line, ''];
}

function ClientSecret({ isKept, isOther }: { isKept: boolean; isOther: (values: Record<string, unknown>) => boolean }) {
  const { values } = useForm();
  const stays = isKept && !isOther(values);
  return (
    <>
      {values.has_no_secret !== true && (
        <TextField
          autoComplete="off"
          hint={
            stays
              ? 'One is kept, and never shown. Leave this empty to keep it.'
              : 'Kept sealed and never shown again. Leave this empty where the client has none.'
          }
          label="Client secret"
          name="client_secret"
          type="password"
        />
      )}
      {stays && (
        <CheckField hint="Forgets the one that is kept." label="The client has no secret" name="has_no_secret" />
      )}
    </>
  );
}

function RolesByClaim() {
  const { values } = useForm();
  if (values.role_claim === '' && values.roles_by_claim === '') return null;
  return (
    <ListField
      hint="The role for each value of that claim, one to a line. Of several the highest counts; where none fits, the role of new members does."
      label="Roles by its value"
      name="roles_by_claim"
      placeholder="vestra-admins = admin"
    />
  );
}

function Settings({ set }: { set: Provider | null }) {
  if (!set) return <p className="text-quiet">None is set up. An owner can.</p>;
  return (
    <div>
      <Facts
        rows={[
          [
            'Issuer',
            <code className="break-all font-mono text-sm" key="issuer">
              {set.issuer}
            </code>,
          ],
          [
            'Client id',
            <code className="break-all font-mono text-sm" key="client">
              {set.client_id}
            </code>,
          ],
          ['Domains', set.allowed_domains.join(', ')],
          ['New members', set.default_role ?? 'only invited people come in'],
          ['Passwords', set.password_sign_in ? 'still open the console' : 'open it for owners alone, once linked'],
          ['Changed', <Time at={set.updated_at} key="at" />],
        ]}
      />
      <p className="mt-2 text-quiet text-sm">An owner changes this.</p>
    </div>
  );
}

/** Both are copied to elsewhere: one to the provider, one to members. */
function Addresses({ set }: { set: Provider | null }) {
  const addresses = [
    ['Redirect address, to allow at the provider', set?.redirect_uri ?? `${serverUrl}/v1/console/sign-in/callback`],
    ...(set ? [['Sign-in address, for members', set.sign_in_url] as const] : []),
  ] as const;
  return (
    <Section title="Addresses">
      <dl className="panel divide-y">
        {addresses.map(([label, address]) => (
          <div className="px-3 py-2" key={label}>
            <dt className="text-quiet text-sm">{label}</dt>
            <dd className="flex items-center gap-1">
              <code className="min-w-0 grow break-all font-mono text-sm">{address}</code>
              <CopyButton label={`Copy: ${label}`} text={address} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** The whole way there and back, with one's own account. Whoever has a password stays signed in as they are. */
function TryIt() {
  const { org, mode } = usePlace();
  const account = useOne('consoleAccount.show', {});
  const link = useLinking();
  const hasPassword = account.data?.has_password;
  const run = () =>
    hasPassword ? link.run({}) : location.assign(companySignIn(org, `/console/${org}/${mode}/settings?part=sign-in`));
  return (
    <Section title="Try it">
      <p className="text-quiet">
        Goes to the provider and back with your own account.{' '}
        {hasPassword
          ? 'Where it works you are back at “Your account”, linked with it; where it does not, that page says why.'
          : 'Where it works you are back here.'}
      </p>
      {link.error && <Fault className="mt-3" error={link.error} />}
      <Button className="mt-3" disabled={hasPassword === undefined} isBusy={link.isRunning} onClick={run}>
        Test this sign-in
      </Button>
    </Section>
  );
}

function Remove() {
  const removing = useDialogInAddress('remove');
  const remove = useChange('identityProvider.remove', {
    touches: ['consoleAccount', 'members'],
    onDone: () => {
      removing.close();
      say('Removed');
    },
  });
  return (
    <Section title="Remove it">
      <Button look="danger-quiet" onClick={() => removing.open()}>
        Remove this sign-in
      </Button>
      <ConfirmDialog
        act="Remove sign-in"
        error={remove.error}
        isOpen={removing.value !== null}
        isRunning={remove.isRunning}
        loses="Whoever it signed in is signed out, and every link is forgotten, with the client secret. Members with a password go on with it. Members whom the provider made have none: they are locked out until it is set up again."
        onClose={removing.close}
        request={remove.requestOf({})}
        run={() => remove.run({})}
        title="Remove the company’s sign-in?"
      />
    </Section>
  );
}
