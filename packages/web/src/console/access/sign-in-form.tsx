import { type FormEvent, useId, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Fault } from '../parts/fault.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { signIn } from './session.ts';

/** Email and password. `email`: whose session is over, so that another's is not begun by mistake. */
export function SignInForm({ email: known, onDone }: { email?: string; onDone: () => void }) {
  const id = useId();
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const run = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setError(null);
    try {
      await signIn({ email, password });
      onDone();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <form className="flex flex-col gap-3" onSubmit={(event) => void run(event)}>
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
      {error && <Fault error={error} />}
      <Button className="mt-1" isBusy={isBusy} look="primary" type="submit">
        Sign in
      </Button>
    </form>
  );
}
