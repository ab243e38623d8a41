import { z } from 'zod';

/** A moment on the wire: ISO 8601 in UTC. */
export const time = z.iso.datetime();
