import { signWebhook, verifyWebhook } from '@vestra/sdk/webhook';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';

type Outcome = { fits: boolean; expected: string } | { error: Error };

/** Whether a delivery was signed with a secret, reckoned in this page: the secret goes nowhere. */
export function SignatureHelper({ onClose }: { onClose: () => void }) {
  const [given, setGiven] = useState({ secret: '', id: '', timestamp: '', signature: '', body: '' });
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const field = (name: keyof typeof given) => ({
    value: given[name],
    onChange: (event: { target: { value: string } }) => {
      setGiven({ ...given, [name]: event.target.value });
      setOutcome(null);
    },
  });
  const check = async () => {
    const { secret, id, timestamp, signature, body } = given;
    const at = new Date(Number(timestamp) * 1000);
    try {
      const signed = await signWebhook({ id, body, secret, at });
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
      // Whether it is too old is not asked: an old delivery is what one looks into.
      const fits = await verifyWebhook({ body, headers, secret, now: at }).then(
        () => true,
        () => false,
      );
      setOutcome({ fits, expected: signed['webhook-signature'] ?? '' });
    } catch (error) {
      setOutcome({ error: error as Error });
    }
  };
  return (
    <Dialog
      description="Paste a delivery as your program received it. Nothing leaves this page."
      isOpen
      onClose={onClose}
      title="Check a signature"
      width="wide"
    >
      <form
        className="grid gap-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          void check();
        }}
      >
        <Labelled label="Signing secret">
          <input
            autoComplete="off"
            className="control font-mono"
            placeholder="whsec_…"
            type="password"
            {...field('secret')}
          />
        </Labelled>
        <Labelled label="webhook-id">
          <input className="control font-mono" placeholder="evt_…" {...field('id')} />
        </Labelled>
        <Labelled label="webhook-timestamp">
          <input className="control font-mono" placeholder="1731744000" {...field('timestamp')} />
        </Labelled>
        <Labelled label="webhook-signature">
          <input className="control font-mono" placeholder="v1,…" {...field('signature')} />
        </Labelled>
        <Labelled className="sm:col-span-2" label="Raw body">
          <textarea
            className="control h-auto py-1.5 font-mono text-sm"
            rows={5}
            spellCheck={false}
            {...field('body')}
          />
        </Labelled>
        <div className="sm:col-span-2" role="status">
          {outcome && 'error' in outcome && <Fault error={outcome.error} />}
          {outcome && 'fits' in outcome && (
            <>
              <p className={`mb-2 flex items-center gap-2 font-medium ${outcome.fits ? 'text-good' : 'text-danger'}`}>
                <Icon name={outcome.fits ? 'check' : 'warn'} />
                {outcome.fits
                  ? 'The signature is valid.'
                  : 'The signature is invalid: the secret is wrong or the body was modified.'}
              </p>
              <CodeBlock code={outcome.expected} label="Expected signature" />
            </>
          )}
        </div>
        <div className="sm:col-span-2">
          <DialogActions>
            <Button onClick={onClose}>Close</Button>
            <Button disabled={given.secret === ''} look="primary" type="submit">
              Check
            </Button>
          </DialogActions>
        </div>
      </form>
    </Dialog>
  );
}

const Labelled = ({
  label,
  className = '',
  children,
}: {
  label: string;
  className?: string;
  children: React.ReactNode;
}) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is given as `children`.
  <label className={`block ${className}`}>
    <span className="mb-1 block font-medium text-sm">{label}</span>
    {children}
  </label>
);
