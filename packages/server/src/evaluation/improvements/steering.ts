const verbs = '(?:remove|disable|skip|drop|delete|turn off|switch off|bypass|lift|stop requiring)';
const rules = '(?:approvals?|confirmations?|limits?|caps?|polic(?:y|ies)|guardrails?|safety|checks?|restrictions?)';
const texts = String.raw`(?:instructions?|system prompt|prompt|rules|settings|configuration|knowledge|documents?|service\.yaml)`;

const patterns = [
  new RegExp(String.raw`\b(?:ignore|disregard|forget|override)\b.{0,60}\b${texts}\b`, 'isu'),
  new RegExp(String.raw`\b${verbs}\b.{0,40}\b${rules}\b`, 'isu'),
  /\b(?:add|include|put|insert|write|save)\b.{0,60}(?:\blinks?\b|\burls?\b|https?:\/\/)/isu,
  new RegExp(
    String.raw`\b(?:change|update|rewrite|edit|modify|replace)\b.{0,40}\b(?:your|its|the agent'?s?)\b.{0,20}\b${texts}\b`,
    'isu',
  ),
  /\b(?:when|if) (?:you|they|someone) (?:improve|update|retrain|fix)\b/isu,
];

/**
 * Whether a user's text tries to change the agent itself. It only flags the conversation for a person: the limits of a
 * proposal protect the deployment, whatever this misses.
 */
export const triesToSteer = (userText: string): boolean =>
  patterns.some((pattern) => pattern.test(userText.normalize('NFKC')));
