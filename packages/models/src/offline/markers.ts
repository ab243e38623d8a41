/**
 * The words in a prompt by which `offline` knows what it is asked to be. Other models read them as plain instructions;
 * `offline` understands no instructions, so whoever writes such a prompt uses these.
 *
 * Playing a user: one system block holds `playsUser`, and lines `Goal: …` and `Persona: …`. The agent's replies come as
 * user messages, what the played user said before as agent messages. `goalReached` as the whole answer ends the play.
 *
 * Judging: one system block holds `judgesConversation`. The last user message holds one line `Criterion: …` for each
 * criterion, one line `Must never: …` for each rule, and the conversation in lines that begin with `User:`, `Agent:` or
 * `Tool:` (a line without any of these goes on with the one before). The answer is JSON
 * `{criteria: [{text, met, reason}], must_never: [{text, broken, reason}]}`, or what the `outputSchema` makes of it.
 *
 * Keeping memory: one system block holds `keepsMemory`. The last user message holds what is known in numbered lines
 * (`1. …`), and the conversation in lines that begin with `User:` or `Agent:`. The answer is JSON
 * `{facts: [{text, kind, said_by_user}], outdated: [number]}`, or what the `outputSchema` makes of it.
 *
 * Drafting scenarios: one system block holds `draftsScenarios`. The first user message holds a line `Count: …` and the
 * settings as JSON `{instructions, functions, server_tools, approvals}`. The answer is JSON `{scenarios: [...]}`.
 *
 * Interviewing: one system block holds `interviewsAboutAgent`. The last user message holds JSON
 * `{name, description, answers: [{question, answer}]}`. The answer is JSON `{question, is_done, file}`, the file as text.
 */
export const playsUser = 'You play the user of a test conversation.';
export const goalReached = '[goal reached]';
export const judgesConversation = 'You judge a test conversation.';
export const draftsScenarios = 'You draft test scenarios for an agent.';
export const interviewsAboutAgent = 'You interview somebody about the agent that they want to set up.';
export const keepsMemory = 'You keep what is worth remembering of a conversation.';

/** Said once in a conversation. */
export const standInNotice =
  'I am the offline stand-in: no model provider is configured, so I only answer from notebooks, memory and tools.';

/** An earlier agent message with these words has said it. */
export const standInWords = 'offline stand-in';
