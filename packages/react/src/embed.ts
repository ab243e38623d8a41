import { defineVestraSession } from './element.ts';

/** The script at `/embed.js`, for pages without a bundler. */
defineVestraSession();
