import { useState } from 'react';
import { companySignIn } from '../../access/company-sign-in.ts';
import { serverUrl } from '../../address.ts';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
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

type Provider = RouteAnswer<'identityProvider.get'>;

/** Single sign-on of the org, for both modes. Only an owner can change it. */
export function SignIn() {
  const { may } = useRole();
  const account = useOne('consoleAccount.show', {});
  // Without a provider, asking for it is a 404 in the browser's log.
  const isKnownNone = account.data?.has_identity_provider === false;
  const provider = useOne('identityProvider.get', {}, { enabled: account.data?.has_identity_provider === true });
  const isNone =
    isKnownNone || (provider.error !== null && detailsOf(provider.error).code === 'identity_provider_not_found');
  const found = isNone ? null : provider.data;
  const [saves, setSaves] = useState(0);
  const saved = async () => {
    say('Saved. The provider responded.');
    await account.refetch();
    await provider.refetch();
    setSaves((before) => before + 1);
  };
  return (
    <>
      <div className="mb-3 flex items-center gap-2">
        <p className="grow text-quiet">
          Members sign in with their company accounts through any OpenID Connect provider. This applies to both modes.
        </p>
        <RequestMenu request={provider.request} />
      </div>
      <Loaded query={{ ...provider, error: provider.error ?? account.error, data: found }}>
        {(set) => (
          <div className="grid items-start gap-6 *:min-w-0 lg:grid-cols-2">
            {may('identityProvider.set') ? (
              // The key resets the form after saving, which clears the secret.
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
  ['', 'None: invitation required'],
  ['viewer', 'Viewer'],
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
                title: 'Change the provider?',
                act: 'Change provider',
                loses:
                  'All links to the current provider are deleted, and members who signed in with it are signed out. Members with a password link their account again. All others are matched by email address.',
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
        submit={set ? 'Save' : 'Set up single sign-on'}
        touches={['consoleAccount']}
      >
        <TextField isMono label="Issuer" name="issuer" placeholder="https://accounts.google.com" type="url" />
        <TextField isMono label="Client ID" name="client_id" />
        <ClientSecret isKept={set?.has_client_secret ?? false} isOther={isOther} />
        <ListField label="Allowed domains" name="allowed_domains" placeholder="example.com" rows={2} />
        <SelectField label="Role of new members" name="default_role" options={roles} />
        <TextField isMono label="Role claim" name="role_claim" placeholder="groups" />
        <RolesByClaim />
        <CheckField label="Allow password sign-in" name="password_sign_in" />
      </ChangeForm>
    </div>
  );
}

/** Parses `value = role`. Invalid lines are sent unchanged, so that the server reports the error. */
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
              ? 'A secret is stored and never shown. Leave this empty to keep it.'
              : 'Stored encrypted and never shown again. Leave this empty if the client has no secret.'
          }
          label="Client secret"
          name="client_secret"
          type="password"
        />
      )}
      {stays && <CheckField hint="Deletes the stored secret." label="The client has no secret" name="has_no_secret" />}
    </>
  );
}

function RolesByClaim() {
  const { values } = useForm();
  if (values.role_claim === '' && values.roles_by_claim === '') return null;
  return (
    <ListField
      hint="One claim value and role per line. If several match, the highest role applies. If none match, new members get the default role."
      label="Role mapping"
      name="roles_by_claim"
      placeholder="vestra-admins = admin"
    />
  );
}

function Settings({ set }: { set: Provider | null }) {
  if (!set) return <p className="text-quiet">Not set up. Only an owner can set it up.</p>;
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
            'Client ID',
            <code className="break-all font-mono text-sm" key="client">
              {set.client_id}
            </code>,
          ],
          ['Domains', set.allowed_domains.join(', ')],
          ['Role of new members', set.default_role ?? 'none: invitation required'],
          ['Passwords', set.password_sign_in ? 'allowed' : 'owners only, after linking'],
          ['Updated', <Time at={set.updated_at} key="at" />],
        ]}
      />
      <p className="mt-2 text-quiet text-sm">Only an owner can change this.</p>
    </div>
  );
}

/** URLs to copy: one for the provider, one for members. */
function Addresses({ set }: { set: Provider | null }) {
  const addresses = [
    ['Redirect URL to allow at the provider', set?.redirect_uri ?? `${serverUrl}/v1/console/sign-in/callback`],
    ...(set ? [['Sign-in URL for members', set.sign_in_url] as const] : []),
  ] as const;
  return (
    <Section title="URLs">
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

/** Tests single sign-on with the member's account. Members with a password stay signed in. */
function TryIt() {
  const { org, mode } = useOrgAndMode();
  const account = useOne('consoleAccount.show', {});
  const link = useLinking();
  const hasPassword = account.data?.has_password;
  const run = () =>
    hasPassword ? link.run({}) : location.assign(companySignIn(org, `/console/${org}/${mode}/settings?part=sign-in`));
  return (
    <Section title="Test">
      <p className="text-quiet">
        Sign in at the provider with your account.{' '}
        {hasPassword
          ? 'You return to “Your account”, which shows the linked account or the error.'
          : 'You return to this page.'}
      </p>
      {link.error && <Fault className="mt-3" error={link.error} />}
      <Button className="mt-3" disabled={hasPassword === undefined} isBusy={link.isRunning} onClick={run}>
        Test sign-in
      </Button>
    </Section>
  );
}

function Remove() {
  const removing = useDialogInAddress('remove');
  return (
    <Section title="Remove">
      <Button look="danger-quiet" onClick={() => removing.open()}>
        Remove single sign-on
      </Button>
      {removing.value && (
        <ConfirmChange
          act="Remove single sign-on"
          fields={{}}
          loses="Members who signed in with it are signed out. All links and the client secret are deleted. Members with a password can still sign in. Members created by the provider have no password: they are locked out until it is set up again."
          notice="Removed"
          onClose={removing.close}
          row="identityProvider.remove"
          title="Remove single sign-on?"
          touches={['consoleAccount', 'members']}
        />
      )}
    </Section>
  );
}
