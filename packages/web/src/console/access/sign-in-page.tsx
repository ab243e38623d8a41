import { useNavigate, useSearch } from '@tanstack/react-router';
import { Door } from './door.tsx';
import { SignInForm } from './sign-in-form.tsx';

export function SignInPage() {
  const { next } = useSearch({ strict: false }) as { next?: string };
  const navigate = useNavigate();
  // A path of this console alone: an address that came from elsewhere leads nowhere else.
  const target = next?.startsWith('/') && !next.startsWith('//') ? next : '/';
  return (
    <Door
      lead="With the login that the first start printed, or the one you chose when you were invited."
      title="Sign in"
    >
      <SignInForm onDone={() => void navigate({ href: target, replace: true })} />
    </Door>
  );
}
