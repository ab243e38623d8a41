import { defineVestraSession } from './element.ts';

/** The script at `/embed.js`, for pages that are not built. */
defineVestraSession();
