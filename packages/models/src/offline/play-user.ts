import type { ModelRequest } from '@vestra/agent/model';
import { sentencesOf } from './sentences.ts';
import { situationOf } from './situation.ts';
import { coverage, stemsOf } from './words.ts';

/**
 * Returns the next message of the user that a scenario describes. The prompt contains lines `Goal: …` and `Persona: …`.
 * The agent's replies arrive as user messages, the user's earlier messages as agent messages.
 */
export function playUser(request: ModelRequest): { says: string; is_done: boolean } {
  const line = nextLine(request);
  return { says: line ?? '', is_done: line === null };
}

const longestPlay = 8;

/** Null: the user has nothing more to say. */
function nextLine(request: ModelRequest): string | null {
  const prompt = request.system.join('\n');
  const goal = lineOf(prompt, 'Goal') ?? 'I need help.';
  const said = request.messages.filter(({ role }) => role === 'agent').length;
  if (said === 0) return goal;
  const { asked: reply, hasSaid } = situationOf(request);
  if (!reply.includes('?') || said >= longestPlay) return null;
  const question = new Set(stemsOf(reply));
  const known = [goal, lineOf(prompt, 'Persona') ?? ''].flatMap(sentencesOf);
  const fresh = known.find((sentence) => coverage(stemsOf(sentence), question) > 0 && !hasSaid(sentence));
  if (fresh) return fresh;
  if (/\b(shall|should|would you like|do you want|is that|confirm|may i|can i|okay|ok)\b/i.test(reply))
    return 'Yes, please.';
  return hasSaid('I have told you all I know.') ? null : `I have told you all I know. ${goal}`;
}

const lineOf = (prompt: string, label: string) => new RegExp(`^${label}:[ \\t]*(.+)$`, 'im').exec(prompt)?.[1]?.trim();
