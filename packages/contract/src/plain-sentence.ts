import { type ErrorCode, errorCatalogue } from './errors.ts';

/** Sentences for ends of a task that are not in the catalogue, or are worded there for operators. */
const sentences: Readonly<Record<string, string>> = {
  stopped: 'It was stopped.',
  max_turns: 'It took too long and was ended.',
  max_budget: 'A spending limit was reached.',
  credits_exhausted: 'A spending limit was reached.',
  wallet_empty: 'A spending limit was reached.',
  org_cap_reached: 'A spending limit was reached.',
  user_cap_reached: 'A spending limit was reached.',
  hook_blocked: 'This is not allowed here.',
  model_error: 'The agent could not answer. Try again in a moment.',
  model_unavailable: 'The agent is not available.',
  deployment_deleted: 'The agent is not available.',
};

const otherwise = 'Something went wrong. Try again in a moment.';

/** The sentence for a user: that it failed, without operational details. */
export const plainSentence = (code: string): string =>
  sentences[code] ?? (Object.hasOwn(errorCatalogue, code) ? errorCatalogue[code as ErrorCode].message : otherwise);
