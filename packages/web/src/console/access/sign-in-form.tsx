import { type FormEvent, useId, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { detailsOf, Fault } from '../parts/fault.tsx';
import { Icon } from '../parts/icons.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { hasPasskeys } from './passkey.ts';
import { signIn, signInWithPasskey } from './session.ts';

/** Sign-in by password or passkey. `email` is set if a session expired, so that no other account replaces it. */
export function SignInForm({ email: known, onDone }: { email?: string; onDone: () => void }) {
  const id = useId();
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const [busyWith, setBusyWith] = useState<'password' | 'passkey' | null>(null);
  const enter = async (by: 'password' | 'passkey') => {
    setBusyWith(by);
    setError(null);
    try {
      await (by === 'password' ? signIn({ email, password }) : signInWithPasskey(known));
      onDone();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusyWith(null);
    }
  };
  const run = (event: FormEvent) => {
    event.preventDefault();
    void enter('password');
  };
  return (
    <form className="flex flex-col gap-3" onSubmit={run}>
      <div>
        <label className="mb-1 block font-medium text-sm" htmlFor={`${id}-email`}>
          Email
        </label>
        <input
          autoComplete="username"
          ref={known === undefined ? takeFocus : null}
          className="control"
          id={`${id}-email`}
          onChange={(event) => setEmail(event.target.value)}
          readOnly={known !== undefined}
          required
          type="email"
          value={email}
        />
      </div>
      <div>
        <label className="mb-1 block font-medium text-sm" htmlFor={`${id}-password`}>
          Password
        </label>
        <input
          autoComplete="current-password"
          ref={known === undefined ? null : takeFocus}
          className="control"
          id={`${id}-password`}
          onChange={(event) => setPassword(event.target.value)}
          required
          type="password"
          value={password}
        />
      </div>
      {error && isMistyped(error) && (
        <p className="text-danger" role="alert">
          {error.message}
        </p>
      )}
      {error && !isMistyped(error) && <Fault error={error} />}
      <Button
        className="mt-1"
        disabled={busyWith !== null}
        isBusy={busyWith === 'password'}
        look="primary"
        type="submit"
      >
        Sign in
      </Button>
      {hasPasskeys() && (
        <Button disabled={busyWith !== null} isBusy={busyWith === 'passkey'} onClick={() => void enter('passkey')}>
          <Icon name="key" /> Sign in with a passkey
        </Button>
      )}
    </form>
  );
}

/** The person can see and correct this. A code and a request id would not help. */
const isMistyped = (error: Error) => detailsOf(error).code === 'login_failed';
