import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Fault } from '../parts/fault.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { AccessFrame } from './access-frame.tsx';
import { resetPassword, signIn } from './session.ts';
import { tokenInFragment } from './token-in-fragment.ts';

/** The target of a password reset link from an owner, an admin or the operator. */
export function ResetPage() {
  const [token] = useState(tokenInFragment);
  const navigate = useNavigate();
  const [password, setPassword] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  if (token === null) {
    return (
      <AccessFrame title="Incomplete link">
        <p className="text-quiet">A reset link ends in #token=… Copy the whole link, or ask for a new one.</p>
      </AccessFrame>
    );
  }
  const run = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setError(null);
    try {
      const { email } = await resetPassword({ token, password });
      await signIn({ email, password });
      await navigate({ to: '/', replace: true });
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <AccessFrame lead="This signs you out of every browser." title="Choose a new password">
      <form className="flex flex-col gap-3" onSubmit={(event) => void run(event)}>
        <label className="block">
          <span className="mb-1 block font-medium text-sm">New password</span>
          <input
            autoComplete="new-password"
            className="control"
            maxLength={256}
            minLength={12}
            onChange={(event) => setPassword(event.target.value)}
            ref={takeFocus}
            required
            type="password"
            value={password}
          />
          <span className="mt-1 block text-quiet text-sm">At least 12 characters.</span>
        </label>
        {error && <Fault error={error} />}
        <Button className="mt-1" isBusy={isBusy} look="primary" type="submit">
          Save and sign in
        </Button>
      </form>
    </AccessFrame>
  );
}
