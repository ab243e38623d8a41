import { bigint, customType, timestamp } from 'drizzle-orm/pg-core';

/** Column kinds that Drizzle has no short word for. */
export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
export const micros = () => bigint({ mode: 'bigint' });
export const moment = () => timestamp({ withTimezone: true, mode: 'date' });
