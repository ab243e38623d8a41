import { createElement, type HTMLAttributes, useEffect, useRef } from 'react';
import {
  defineVestraSession,
  type Font,
  type GetSession,
  type VestraSessionElement,
  type VestraSessionEvents,
} from './element.ts';

export type { GetSession, GivenSession, VestraSessionElement, VestraSessionEvents } from './element.ts';

type Told<Type extends keyof VestraSessionEvents> = (detail: VestraSessionEvents[Type]) => void;

export type VestraSessionProps = Omit<HTMLAttributes<HTMLElement>, 'onResize' | 'onError'> & {
  /** Requests a session from your server, now and before each expiry. */
  getSession: GetSession;
  layout?: 'inline' | 'launcher' | undefined;
  /** Whether the launcher is open. If undefined, the user decides. */
  open?: boolean | undefined;
  heading?: string | undefined;
  logo?: string | undefined;
  /** Defaults to the browser's language. */
  language?: string | undefined;
  scheme?: 'light' | 'dark' | 'auto' | undefined;
  /** Adapts the height to the content. */
  autosize?: boolean | undefined;
  fonts?: readonly Font[] | undefined;
  onReady?: Told<'ready'> | undefined;
  onEnded?: Told<'ended'> | undefined;
  onHandoff?: Told<'handoff'> | undefined;
  onResize?: Told<'resize'> | undefined;
  onUnread?: Told<'unread'> | undefined;
  onError?: Told<'error'> | undefined;
};

const noFonts: readonly Font[] = [];

/** `<vestra-session>` as a component. Changing the callbacks does not restart the session. */
export function VestraSession(props: VestraSessionProps) {
  const { getSession, layout, open, heading, logo, language, scheme, autosize, fonts = noFonts, ...rest } = props;
  const { onReady, onEnded, onHandoff, onResize, onUnread, onError, className, ...others } = rest;
  const element = useRef<VestraSessionElement>(null);
  const newest = useRef(props);
  newest.current = props;

  useEffect(() => {
    defineVestraSession();
    const shown = element.current as VestraSessionElement;
    const leaving = new AbortController();
    for (const [type, told] of listeners) {
      const tell = (event: Event) => told(newest.current)?.((event as CustomEvent<never>).detail);
      shown.addEventListener(type, tell, { signal: leaving.signal });
    }
    shown.getSession = (wanted) => newest.current.getSession(wanted);
    return () => leaving.abort();
  }, []);

  useEffect(() => {
    (element.current as VestraSessionElement).fonts = fonts;
  }, [fonts]);

  useEffect(() => {
    if (open !== undefined) element.current?.toggleAttribute('open', open);
  }, [open]);

  const attributes = { layout, heading, logo, language, scheme, class: className, autosize: autosize ? '' : undefined };
  return createElement('vestra-session', { ...others, ...attributes, ref: element });
}

const listeners: readonly (readonly [
  keyof VestraSessionEvents,
  (props: VestraSessionProps) => ((detail: never) => void) | undefined,
])[] = [
  ['ready', ({ onReady }) => onReady],
  ['ended', ({ onEnded }) => onEnded],
  ['handoff', ({ onHandoff }) => onHandoff],
  ['resize', ({ onResize }) => onResize],
  ['unread', ({ onUnread }) => onUnread],
  ['error', ({ onError }) => onError],
];
