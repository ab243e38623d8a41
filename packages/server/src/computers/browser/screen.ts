import type { Origin } from '../../platform/caller.ts';
import type { Part } from '../chromium/page-script.ts';
import type { Owner } from '../store.ts';
import type { OpenTab } from './browser-pool.ts';

/** A session that looks at the screen of its user. */
export type Viewer = {
  sessionId: string;
  owner: Owner;
  origin: Origin;
  mayDrive: boolean;
  /** The browser is in its hands from the first frame. */
  isDriver: boolean;
};

/** One session's open stream. */
export type Screen = {
  viewer: Viewer;
  /** What the newest picture shows; null: nothing that could be touched. */
  shown: { open: OpenTab; part: Part; isCropped: boolean } | null;
  isDriving: boolean;
  lastInput: number;
};

/** What there is to see for a viewer. */
export type ScreenState = { kind: 'private' | 'payment' | 'asleep' | 'nothing' } | { kind: 'page'; open: OpenTab };
