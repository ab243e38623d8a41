import { z } from 'zod';

const notATime = 'Must be an ISO 8601 date and time with its zone, or a date.';

/** A time in a query: ISO 8601 with a zone, or a date, which means its start in UTC. */
export const queryTime = z
  .union([z.iso.datetime({ offset: true, error: notATime }).max(64, notATime), z.iso.date(notATime)], notATime)
  .transform((written) => new Date(written));
