import { useSyncExternalStore } from 'react';
import { Icon } from './icons.tsx';

type Notice = { id: number; text: string; undo?: (() => void) | undefined };

let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();
const become = (next: readonly Notice[]) => {
  notices = next;
  for (const listener of listeners) listener();
};

/** Shows a notice for a few seconds. `undo` reverts the change. */
export function say(text: string, undo?: () => void): void {
  const id = ++last;
  become([...notices.slice(-2), { id, text, undo }]);
  setTimeout(() => become(notices.filter((notice) => notice.id !== id)), undo ? 8000 : 3000);
}

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => notices,
  );
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-60 flex flex-col items-center gap-2 px-4"
      role="status"
    >
      {shown.map(({ id, text, undo }) => (
        <div
          className="pointer-events-auto flex max-w-full animate-appear items-center gap-3 rounded-md bg-primary px-3 py-2 text-on-primary text-sm shadow-pop"
          key={id}
        >
          <Icon className="size-3.5" name="check" />
          <span className="min-w-0 break-words">{text}</span>
          {undo && (
            <button className="font-semibold underline underline-offset-2" onClick={undo} type="button">
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
