import type { Interruption } from './loudspeaker.ts';
import type { GateNews } from './speech-gate.ts';
import type { CallFiles } from './voice-packages.ts';

export type LineNetwork = {
  /** Where sound comes in by UDP; null: any port. */
  ports: { min: number; max: number } | null;
  /** The address under which browsers reach this machine, where that is not one of its own. */
  address: string | null;
  /** Whether the operator opened private and loopback addresses. */
  allowPrivate: boolean;
};

export type LineWork = { files: CallFiles; runtime: string; network: LineNetwork };

/** A browser's offer, and whom to ask for a way to it. Never among a process's arguments, which everybody reads: it holds passwords. */
export type LineOffer = {
  sdp: string;
  iceServers: readonly { urls: string[]; username?: string; credential?: string }[];
};

/** What the page of the person is told beside the sound. */
export type LineNote = {
  type: 'state' | 'heard' | 'ended';
  [field: string]: unknown;
};

export type ToLine =
  | ({ kind: 'offer' } & LineOffer)
  | { kind: 'say'; id: number; samples: Int16Array; isWhole: boolean }
  /** `resume`: goes on where it was broken off. `clear`: what was not said stays unsaid. */
  | { kind: 'resume' | 'clear' }
  | { kind: 'note'; note: LineNote }
  | { kind: 'close' };

export type FromLine =
  | { kind: 'answer'; sdp: string }
  | { kind: 'refused'; reason: 'sdp' | 'process'; message: string }
  | { kind: 'connected' }
  /** `broken`: what was being said when the person began to speak, and how much of it was out. */
  | { kind: 'speech'; news: GateNews; broken: Interruption | null }
  | { kind: 'sound'; samples: Int16Array }
  | { kind: 'said'; id: number }
  | { kind: 'hung_up' }
  | { kind: 'lost' };
