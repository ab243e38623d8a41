import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { queryClient } from '../data/queries.ts';
import { Button, buttonLook } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fault } from '../parts/fault.tsx';
import { companySignIn } from './company-sign-in.ts';
import { type ConsoleSession, signOut, takeSessionOfBrowser, useAccess } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

/** The dialog over the open page when a session expires. Input is kept, and pending calls continue. */
export function SignInAgain() {
  const { status, session } = useAccess();
  const navigate = useNavigate();
  if (status !== 'ended' || !session) return null;
  const asAnother = async () => {
    await signOut();
    queryClient.clear();
    await navigate({ to: '/sign-in' as never });
  };
  return (
    <Dialog
      canLeave={false}
      description="Your session has expired. Your input is not lost: sign in to continue."
      isOpen
      onClose={() => {}}
      title="Sign in again"
    >
      {session.has_password ? (
        <SignInForm email={session.member.email} onDone={() => {}} />
      ) : (
        <AtCompany session={session} />
      )}
      <Button className="mt-2 w-full" look="quiet" onClick={() => void asAnother()}>
        Use another account
      </Button>
    </Dialog>
  );
}

/** Opens in a separate tab to keep this page, which continues as soon as it regains focus. */
function AtCompany({ session: { org, member } }: { session: ConsoleSession }) {
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const look = () => {
      if (!document.hidden) takeSessionOfBrowser(member.email).catch(setError);
    };
    document.addEventListener('visibilitychange', look);
    window.addEventListener('focus', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('focus', look);
    };
  }, [member.email]);
  return (
    <>
      <a
        className={`${buttonLook('primary')} w-full`}
        href={companySignIn(org.id, '/console')}
        rel="noopener"
        target="_blank"
      >
        Sign in with your company’s account
      </a>
      <p className="mt-2 text-quiet text-sm">Opens in a new tab. Return to this tab afterwards.</p>
      {error && <Fault className="mt-3" error={error} />}
    </>
  );
}
