import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Fault } from '../parts/fault.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { AccessFrame } from './access-frame.tsx';
import { acceptInvitation, signIn } from './session.ts';
import { tokenInFragment } from './token-in-fragment.ts';

export function AcceptPage() {
  const [token] = useState(tokenInFragment);
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  if (token === null) {
    return (
      <AccessFrame title="Incomplete link">
        <p className="text-quiet">An invitation link ends in #token=… Copy the whole link, or ask for a new one.</p>
      </AccessFrame>
    );
  }
  const run = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setError(null);
    try {
      const { email } = await acceptInvitation({ token, name, password });
      await signIn({ email, password });
      await navigate({ to: '/', replace: true });
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <AccessFrame
      lead="Choose a name and a password. If you already have an account here, enter its password."
      title="Join the console"
    >
      <form className="flex flex-col gap-3" onSubmit={(event) => void run(event)}>
        <label className="block">
          <span className="mb-1 block font-medium text-sm">Name</span>
          <input
            autoComplete="name"
            ref={takeFocus}
            className="control"
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
            required
            value={name}
          />
        </label>
        <label className="block">
          <span className="mb-1 block font-medium text-sm">Password</span>
          <input
            aria-describedby="password-help"
            autoComplete="new-password"
            className="control"
            maxLength={256}
            minLength={12}
            onChange={(event) => setPassword(event.target.value)}
            required
            type="password"
            value={password}
          />
          <span className="mt-1 block text-quiet text-sm" id="password-help">
            At least 12 characters. A few random words are easy to remember and hard to guess.
          </span>
        </label>
        {error && <Fault error={error} />}
        <Button className="mt-1" isBusy={isBusy} look="primary" type="submit">
          Join
        </Button>
      </form>
    </AccessFrame>
  );
}
