import type { IdPrefix } from '../ids.ts';

/**
 * One call of a story that all examples share: the shop Maple & Thread sets up a support desk and runs it. The first
 * call of an operation is its example. A test sends all of them, in this order, to a server.
 */
export type ExampleCall = {
  /** `conversations.create` */
  operation: string;
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string | number>>;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  /** Sent as the part `file` of a form. */
  file?: { name: string; text: string };
  /** The credential of the call. Default: a test key. */
  as?: 'live' | 'console' | 'session' | 'nobody';
  /** The response if the test cannot produce it, and the reason. */
  unsent?: { because: string; answer: unknown };
};

export const step = (operation: string, given: Omit<ExampleCall, 'operation'> = {}): ExampleCall => ({
  operation,
  ...given,
});

/** The id of the nth object of its kind in the story. */
export const exampleId = (prefix: IdPrefix, count = 1): string =>
  `${prefix}_01kb5hq8e7${String(count).padStart(14, '0')}`;

export const exampleUrl = 'https://vestra.example.com';
export const exampleTime = '2026-11-16T09:30:00.000Z';
