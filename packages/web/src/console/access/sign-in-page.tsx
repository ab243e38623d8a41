import { useNavigate, useSearch } from '@tanstack/react-router';
import { Door } from './door.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Why the company's own sign-in sent the browser back. */
const identityErrors: Readonly<Record<string, string>> = {
  not_offered: 'This org has no sign-in of its own. Use your email and password.',
  expired: 'That sign-in took too long, or was begun in another browser. Begin again.',
  unreachable: 'The company’s sign-in did not answer. Try again, or use your email and password.',
  refused: 'The company’s sign-in was not completed.',
  email_unverified: 'The company’s sign-in does not say that your email address is verified. Ask whoever runs it.',
  email_not_allowed: 'Your email address is not of a domain that this org lets in.',
  not_a_member: 'You are not a member of this org. Ask an owner or admin for an invitation.',
  link_required: 'You have a password here. Sign in with it, then link your company account.',
  another_identity: 'This email address is linked with another account of the company.',
};

export function SignInPage() {
  const { next, sign_in_error: code, org } = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  // A path of this console alone: an address that came from elsewhere leads nowhere else.
  const target = next?.startsWith('/') && !next.startsWith('//') ? next : '/';
  return (
    <Door
      lead="With the login that the first start printed, or the one you chose when you were invited."
      title="Sign in"
    >
      {code && (
        <p className="mb-4 text-sm" role="alert">
          {(Object.hasOwn(identityErrors, code) && identityErrors[code]) ||
            'The sign-in did not end well. Begin again.'}
        </p>
      )}
      {org && /^org_[0-9a-z]{24}$/.test(org) && (
        <a className="mb-4 block text-sm underline" href={`/v1/console/sign-in/${org}`}>
          Sign in with your company’s account
        </a>
      )}
      <SignInForm onDone={() => void navigate({ href: target, replace: true })} />
    </Door>
  );
}
