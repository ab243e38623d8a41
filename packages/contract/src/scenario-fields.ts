import { z } from 'zod';
import { text } from './text.ts';

/** The parts of a scenario that the API and the deployment file's `tests` share. */

export const scenarioName = text(1, 120);
export const persona = text(1, 2000);
export const goal = text(1, 2000);

export const scenarioLine = text(1, 500);
export const successCriteria = z.array(scenarioLine).min(1, 'Give at least one line.').max(12, 'At most 12 lines.');
export const mustNever = z.array(scenarioLine).max(12, 'At most 12 lines.');

const toolResultLimit = 20;

/** Keys are names of declared tools, or `<server_slug>.<tool>`. */
export const toolResults = z
  .record(z.string(), z.unknown())
  .refine((results) => Object.keys(results).length <= toolResultLimit, `At most ${toolResultLimit} tool results.`)
  .meta({ maxProperties: toolResultLimit });
