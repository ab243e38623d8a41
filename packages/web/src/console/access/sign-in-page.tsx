import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { buttonLook } from '../parts/button.tsx';
import { AccessFrame } from './access-frame.tsx';
import { companySignIn } from './company-sign-in.ts';
import { identityError } from './identity-errors.ts';
import { useAccess } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

export function SignInPage() {
  const { next, sign_in_error: code, org } = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const { session } = useAccess();
  // Only a path of this console: `next` must not redirect to another site.
  const target = next?.startsWith('/') && !next.startsWith('//') ? next : '/';
  return (
    <AccessFrame
      lead="Use the owner’s email and password that the server printed at its first start or wrote to credentials.json, or your own account."
      title="Sign in"
    >
      {code && (
        <p className="mb-4 text-sm" role="alert">
          {identityError(code)}
        </p>
      )}
      {session && (
        <p className="mb-4 text-sm">
          You are signed in as {session.member.email}.{' '}
          <Link className="text-accent underline underline-offset-2" to={target as never}>
            Continue
          </Link>
        </p>
      )}
      {org && /^org_[0-9a-z]{24}$/.test(org) && (
        <a className={`${buttonLook('plain')} mb-4 w-full`} href={companySignIn(org, `/console${target}`)}>
          Sign in with your company’s account
        </a>
      )}
      <SignInForm onDone={() => void navigate({ href: target, replace: true })} />
    </AccessFrame>
  );
}
