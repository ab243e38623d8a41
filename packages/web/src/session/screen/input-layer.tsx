import { type ClipboardEvent, type KeyboardEvent, type MouseEvent, type TouchEvent, useEffect, useRef } from 'react';
import { useWords } from '../words/words.ts';
import type { Picture } from './use-screen.ts';
import type { Input } from './use-screen-input.ts';

type InputLayerProps = {
  picture: Picture;
  /** Null for view-only sessions. */
  pass: ((...inputs: Input[]) => void) | null;
  /** Moves the focus away. */
  leave: () => void;
};

const named = /^(?:Backspace|Tab|Enter|PageUp|PageDown|End|Home|Arrow(?:Left|Up|Right|Down)|Delete)$/;
const buttons = ['left', 'middle', 'right'] as const;

/** The screen image, which forwards input in control mode. */
export function InputLayer({ picture, pass, leave }: InputLayerProps) {
  const words = useWords();
  const view = useRef<HTMLDivElement>(null);
  const finger = useRef<{ x: number; y: number } | null>(null);

  useEffect(() => {
    const element = view.current;
    if (!element || !pass) return;
    // Only a non-passive listener can stop the host page from scrolling.
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      pass({ kind: 'wheel', ...placeOn(element, event), dx: bounded(event.deltaX), dy: bounded(event.deltaY) });
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, [pass]);

  const frame = (
    <img
      alt={words.screenPicture}
      className="pointer-events-none block max-h-full max-w-full select-none"
      draggable={false}
      height={picture.height}
      src={picture.image}
      width={picture.width}
    />
  );
  const fitted = 'grid size-full min-h-0 min-w-0 place-items-center *:object-contain';
  if (!pass) return <div className={fitted}>{frame}</div>;

  const mouse = (type: 'down' | 'up') => (event: MouseEvent) => {
    const button = buttons[event.button];
    if (!view.current || !button) return;
    const clicks = Math.min(3, Math.max(1, event.detail));
    pass({ kind: 'mouse', type, ...placeOn(view.current, event), button, clicks });
  };
  const move = (event: MouseEvent) => {
    if (!view.current) return;
    const button = event.buttons & 1 ? 'left' : 'none';
    pass({ kind: 'mouse', type: 'move', ...placeOn(view.current, event), button });
  };
  const touchMove = ({ touches }: TouchEvent) => {
    const touch = touches[0];
    if (!touch || !view.current) return;
    const before = finger.current;
    finger.current = { x: touch.clientX, y: touch.clientY };
    if (!before) return;
    const [dx, dy] = [bounded(before.x - touch.clientX), bounded(before.y - touch.clientY)];
    pass({ kind: 'wheel', ...placeOn(view.current, touch), dx, dy });
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      return leave();
    }
    const isPaste = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'v';
    const isCharacter = [...event.key].length === 1;
    if (isPaste || (!isCharacter && !named.test(event.key))) return;
    event.preventDefault();
    pass({ kind: 'key', key: event.key, modifiers: modifiersOf(event) });
  };
  const paste = ({ clipboardData }: ClipboardEvent) => {
    const text = clipboardData.getData('text/plain').slice(0, 2000);
    if (text !== '') pass({ kind: 'text', text });
  };

  return (
    <div
      aria-label={words.screenDrive}
      className={`${fitted} touch-none`}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={key}
      onMouseDown={mouse('down')}
      onMouseMove={move}
      onMouseUp={mouse('up')}
      onPaste={paste}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onTouchEnd={() => {
        finger.current = null;
      }}
      onTouchMove={touchMove}
      ref={view}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it receives keyboard input for the page.
      tabIndex={0}
    >
      {frame}
    </div>
  );
}

/** The position as a fraction of the image, clamped to its edges. */
function placeOn(view: HTMLElement, { clientX, clientY }: { clientX: number; clientY: number }) {
  const { left, top, width, height } = (view.querySelector('img') ?? view).getBoundingClientRect();
  const share = (at: number, of: number) => (of === 0 ? 0 : Math.min(1, Math.max(0, at / of)));
  return { x: share(clientX - left, width), y: share(clientY - top, height) };
}

const bounded = (pixels: number) => Math.max(-5000, Math.min(5000, pixels));

function modifiersOf(event: KeyboardEvent): ('alt' | 'control' | 'meta' | 'shift')[] {
  const held = { alt: event.altKey, control: event.ctrlKey, meta: event.metaKey, shift: event.shiftKey };
  return (['alt', 'control', 'meta', 'shift'] as const).filter((each) => held[each]);
}
