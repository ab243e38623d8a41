import { type ReactNode, useState } from 'react';
import { useChange } from '../data/queries.ts';
import type { Fields, Request, RouteAnswer, RowName } from '../data/rows.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Fault } from './fault.tsx';
import { say } from './notices.tsx';
import { RequestMenu } from './request-menu.tsx';

type ConfirmProps = {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** The consequences, understandable without the documentation. */
  loses: ReactNode;
  /** The label of the button, such as `Delete key`. */
  act: string;
  /** The user has to type this first, for changes that cannot be undone. */
  typed?: string | undefined;
  run: () => void;
  /** The API call that the change makes. */
  request: Request;
  isRunning: boolean;
  error: Error | null;
};

/** A confirmation before a destructive change. */
export function ConfirmDialog(props: ConfirmProps) {
  const { isOpen, onClose, title, loses, act, typed, run, request, isRunning, error } = props;
  const [word, setWord] = useState('');
  const isReady = typed === undefined || word.trim() === typed;
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <div className="text-quiet">{loses}</div>
      {typed !== undefined && (
        <label className="mt-4 block">
          <span className="mb-1 block text-sm">
            Type <code className="break-all rounded-sm bg-muted px-1 font-mono text-foreground">{typed}</code> to
            confirm
          </span>
          <input
            autoComplete="off"
            className="control font-mono"
            onChange={(event) => setWord(event.target.value)}
            value={word}
          />
        </label>
      )}
      {error && <Fault className="mt-4" error={error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button disabled={!isReady} isBusy={isRunning} look="danger" onClick={run}>
          {act}
        </Button>
        <span className="order-first mr-auto">
          <RequestMenu label="Copy this change as an API request" request={request} />
        </span>
      </DialogActions>
    </Dialog>
  );
}

type ConfirmChangeProps<Name extends RowName> = Pick<ConfirmProps, 'title' | 'loses' | 'act' | 'typed'> & {
  row: Name;
  fields: Fields<Name>;
  touches?: readonly string[];
  /** Shown after the change. */
  notice?: string;
  onClose: () => void;
  /** Runs after the change instead of `onClose`. */
  onDone?: (answer: RouteAnswer<Name>) => void;
};

/** Asks, then makes one change. It is rendered only while it is open. */
export function ConfirmChange<Name extends RowName>(props: ConfirmChangeProps<Name>) {
  const { row, fields, touches, notice, onClose, onDone, ...question } = props;
  const change = useChange(row, {
    ...(touches && { touches }),
    onDone: (answer) => {
      if (notice !== undefined) say(notice);
      if (onDone) onDone(answer);
      else onClose();
    },
  });
  return (
    <ConfirmDialog
      {...question}
      error={change.error}
      isOpen
      isRunning={change.isRunning}
      onClose={onClose}
      request={change.requestOf(fields)}
      run={() => change.run(fields)}
    />
  );
}
