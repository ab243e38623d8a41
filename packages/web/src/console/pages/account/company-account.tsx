import { useChange } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { Fault } from '../../parts/fault.tsx';
import { Time } from '../../parts/shown.tsx';

type Linked = RouteAnswer<'consoleAccount.show'>['linked_identity'];

/** The linked company account. Members with a password link it themselves, to prove that it is theirs. */
export function CompanyAccount({ linked, hasPassword }: { linked: Linked; hasPassword: boolean }) {
  const unlinking = useDialogInAddress('unlink');
  const link = useLinking();
  if (!linked) {
    return (
      <div className="panel p-4">
        <p className="text-quiet">
          Link your company account to sign in to this org with it. You are sent to the identity provider and then back
          here.
        </p>
        {link.error && <Fault className="mt-3" error={link.error} />}
        <Button className="mt-3" isBusy={link.isRunning} onClick={() => link.run({})}>
          Link company account
        </Button>
      </div>
    );
  }
  return (
    <div className="panel p-4">
      <p className="break-words">
        <strong>{linked.email}</strong> at <code className="break-all font-mono text-sm">{linked.issuer}</code>
      </p>
      <p className="mt-1 text-quiet text-sm">
        Linked <Time at={linked.created_at} />. {!hasPassword && 'Your identity provider manages this account.'}
      </p>
      {hasPassword && (
        <Button className="mt-3" look="danger-quiet" onClick={() => unlinking.open()}>
          Unlink
        </Button>
      )}
      {unlinking.value && (
        <ConfirmChange
          act="Unlink"
          fields={{}}
          loses="You can no longer sign in with your company account, and browsers signed in with it are signed out. Your password stays valid, and you can link the account again."
          notice="Unlinked"
          onClose={unlinking.close}
          row="consoleSignIn.unlink"
          title="Unlink your company account?"
          touches={['consoleAccount']}
        />
      )}
    </div>
  );
}

/** Redirects to the identity provider, which returns to the account page with the result. */
export const useLinking = () => useChange('consoleSignIn.link', { onDone: ({ url }) => location.assign(url) });
