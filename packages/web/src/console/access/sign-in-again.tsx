import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../data/queries.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { signOut, useAccess } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Over whatever is open when a session ends. What was typed there stays, and what waited goes on. */
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
      description="Your session is over. Nothing that you typed is lost: sign in and it goes on."
      isOpen
      onClose={() => {}}
      title="Sign in again"
    >
      <SignInForm email={session.member.email} onDone={() => {}} />
      <Button className="mt-2 w-full" look="quiet" onClick={() => void asAnother()}>
        Sign in as somebody else
      </Button>
    </Dialog>
  );
}
