import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Icon } from './icons.tsx';

/** A secret that the server returns once. Only the confirmation button closes the dialog. */
export function SecretOnce({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
  return (
    <Dialog canLeave={false} isOpen onClose={onClose} title={title}>
      <p className="mb-3 flex gap-2 text-warn">
        <Icon className="mt-0.5 size-4" name="warn" />
        This is shown only once. Store it with your other secrets.
      </p>
      <div className="flex items-center gap-1 rounded-md border bg-muted p-2">
        <code className="min-w-0 grow break-all font-mono text-sm" data-secret="">
          {secret}
        </code>
        <CopyButton label="Copy the secret" text={secret} />
      </div>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      </DialogActions>
    </Dialog>
  );
}
