import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

/** Asks before unsaved input is lost by a link, the back button or closing the tab. `letGo` allows leaving. */
export function useUnsaved(isUnsaved: boolean): { dialog: ReactNode; letGo: () => void } {
  const isLetGo = useRef(false);
  const isAtStake = () => isUnsaved && !isLetGo.current;
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => isAtStake() && current.pathname !== next.pathname,
    enableBeforeUnload: isAtStake,
    withResolver: true,
  });
  const dialog = leaving.status === 'blocked' && (
    <Dialog
      description="Your changes are not applied yet. If you leave, they are lost."
      isOpen
      onClose={leaving.reset}
      title="Leave without applying?"
    >
      <DialogActions>
        <Button look="danger-quiet" onClick={leaving.proceed}>
          Leave{' '}
        </Button>
        <Button look="primary" onClick={leaving.reset}>
          Keep editing
        </Button>
      </DialogActions>
    </Dialog>
  );
  return {
    dialog,
    letGo: () => {
      isLetGo.current = true;
    },
  };
}
